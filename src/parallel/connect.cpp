#include "parallel/connect.h"

#include <algorithm>
#include <functional>
#include <map>
#include <vector>

#include <fmt/format.h>

#include "support/check.h"

namespace headscope {
namespace {

constexpr const char* kNone = "-its device has no NCCL";

// What ranks tell each other of an attempt: '+' and its result, or '-' and why it failed.
std::string outcome_of(const std::function<std::string()>& attempt) {
    try {
        return fmt::format("+{}", attempt());
    } catch (const Error& error) {
        return fmt::format("-{}", error.what());
    }
}

// "rank 1 (cuda:1): no NCCL", each reason once; "" if all succeeded.
std::string failures(const Communicator& ranks, const std::vector<std::string>& outcomes) {
    std::string text;
    for (std::size_t rank = 0; rank < outcomes.size(); ++rank) {
        const std::string& outcome = outcomes[rank];
        const auto before = outcomes.begin() + static_cast<std::ptrdiff_t>(rank);
        if (outcome.front() == '-' && std::find(outcomes.begin(), before, outcome) == before) {
            text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", ranks.name_of(static_cast<int>(rank)),
                                outcome.substr(1));
        }
    }
    return text;
}

// Two ranks on one device; "" if there are none.
std::string shared_device(const Communicator& ranks, const std::vector<std::string>& devices) {
    std::map<std::string, int> owners;
    for (std::size_t rank = 0; rank < devices.size(); ++rank) {
        const auto [owner, first] = owners.emplace(devices[rank], static_cast<int>(rank));
        if (!first) {
            return fmt::format("{} and {} share a GPU", ranks.name_of(owner->second),
                               ranks.name_of(static_cast<int>(rank)));
        }
    }
    return "";
}

// "" if the ranks are connected, else why not.
std::string connect(Collectives* own, Communicator& ranks, const std::vector<std::string>& devices) {
    if (std::string reason = failures(ranks, devices); !reason.empty()) {
        return reason;
    }
    if (std::string reason = shared_device(ranks, devices); !reason.empty()) {
        return reason;
    }
    const std::string invitation =
        ranks.broadcast(ranks.leads() ? outcome_of([&] { return own->invite(); }) : std::string());
    if (invitation.front() == '-') {
        return fmt::format("{}: {}", ranks.name_of(0), invitation.substr(1));
    }
    // A rank that fails here cannot choose another way with the others: they wait for it inside, and fail after it.
    try {
        own->connect(invitation.substr(1), ranks.rank(), ranks.size());
    } catch (const Error& error) {
        ranks.check();
        ranks.fail(error.what());
        throw;
    }
    return "";
}

}  // namespace

Connected connect_devices(Backend& backend, Communicator& ranks) {
    if (ranks.size() == 1) {
        return {};
    }
    Collectives* own = backend.collectives();
    std::string name;
    const std::vector<std::string> devices = ranks.gather(own == nullptr ? kNone : outcome_of([&] {
        name = own->name();
        return own->device();
    }));
    if (std::all_of(devices.begin(), devices.end(), [](const std::string& each) { return each == kNone; })) {
        return {};
    }
    if (const std::string reason = connect(own, ranks, devices); !reason.empty()) {
        return {nullptr, fmt::format("gradients go through the host's memory: {}", reason)};
    }
    return {own, fmt::format("gradients go from GPU to GPU by {}", name)};
}

}  // namespace headscope
