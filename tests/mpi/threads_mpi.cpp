#include "threads_mpi.h"

#include <algorithm>
#include <list>
#include <memory>
#include <mutex>
#include <thread>

#include <fmt/format.h>

namespace headscope::mpi_tests {
namespace {

// Half of a transfer: bytes that were sent, or the memory that waits for some.
struct Half {
    int channel = 0;
    int from = 0;
    int to = 0;
    int tag = 0;
    std::vector<char> sent = {};
    void* memory = nullptr;
    int most = 0;
    bool matched = false;
    bool until_read = false;
    mpi::Arrival arrival = {};
};
using Shared = std::shared_ptr<Half>;

std::mutex guard;
std::list<Shared> halves;    // all
std::list<Shared> sends;     // not received yet, in order
std::list<Shared> receives;  // that wait, in order
Outcome outcome;
thread_local int me = 0;

bool fit(const Half& receive, const Half& send) {
    return receive.channel == send.channel && receive.to == send.to &&
           (receive.from == mpi::kAny || receive.from == send.from) &&
           (receive.tag == mpi::kAny || receive.tag == send.tag);
}

void match() {
    receives.remove_if([](const Shared& receive) {
        const auto send = std::ranges::find_if(sends, [&](const Shared& each) { return fit(*receive, *each); });
        if (send == sends.end()) {
            return false;
        }
        std::ranges::copy((*send)->sent, static_cast<char*>(receive->memory));
        receive->arrival = {1, (*send)->from, (*send)->tag, static_cast<int>((*send)->sent.size())};
        receive->matched = (*send)->matched = true;
        sends.erase(send);
        return true;
    });
    outcome.unread = std::max(outcome.unread, static_cast<int>(sends.size()));
}

const char* send(int channel, int to, int tag, const void* bytes, int count, int until_read, mpi::Request* request) {
    const std::lock_guard lock(guard);
    const char* begin = static_cast<const char*>(bytes);
    const Shared half = std::make_shared<Half>(Half{.channel = channel, .from = me, .to = to, .tag = tag});
    half->sent.assign(begin, begin + count);
    half->until_read = until_read != 0;
    request->handle = &halves.emplace_back(half);
    sends.push_back(half);
    match();
    return nullptr;
}

const char* receive(int channel, int from, int tag, void* bytes, int most, mpi::Request* request) {
    const std::lock_guard lock(guard);
    const Shared half = std::make_shared<Half>(
        Half{.channel = channel, .from = from, .to = me, .tag = tag, .memory = bytes, .most = most});
    request->handle = &halves.emplace_back(half);
    receives.push_back(half);
    match();
    return nullptr;
}

const char* test(mpi::Request* request, mpi::Arrival* arrival) {
    const std::lock_guard lock(guard);
    const auto* half = static_cast<Shared*>(request->handle);
    const bool sent_at_once = (*half)->memory == nullptr && !(*half)->until_read;
    if (!(*half)->matched && !sent_at_once) {
        return nullptr;
    }
    *arrival = (*half)->arrival;
    arrival->done = 1;
    return nullptr;
}

const char* cancel(mpi::Request* request) {
    const std::lock_guard lock(guard);
    const auto* half = static_cast<Shared*>(request->handle);
    receives.remove(*half);
    return nullptr;
}

const char* end() {
    const std::lock_guard lock(guard);
    ++outcome.ended;
    return nullptr;
}

void abort(int /*code*/) {
    const std::lock_guard lock(guard);
    ++outcome.aborts;
    receives.remove_if([](const Shared& receive) { return receive->to == me; });  // their memory goes away
}

constexpr mpi::Module kModule{.version = mpi::kModuleVersion,
                              .name = "threads",
                              .start = nullptr,
                              .send = send,
                              .receive = receive,
                              .test = test,
                              .cancel = cancel,
                              .end = end,
                              .abort = abort};

void run_rank(int rank, int size, double patience, const std::function<void(MpiCommunicator& ranks)>& work) {
    me = rank;
    mpi::Place place;
    place.rank = rank;
    place.size = size;
    const auto report = [](const std::string& text) {
        const std::lock_guard lock(guard);
        outcome.reports.push_back(text);
    };
    MpiCommunicator ranks(kModule, place, std::chrono::duration<double>(patience), report, 1000);
    ranks.greet();
    try {
        ranks.introduce(fmt::format("host {}", rank));
        work(ranks);
    } catch (const std::exception& error) {
        ranks.fail(error.what());
    }
}

}  // namespace

Outcome run_ranks(int size, double patience, const std::function<void(MpiCommunicator& ranks)>& work) {
    halves.clear();
    sends.clear();
    receives.clear();
    outcome = {};
    std::vector<std::thread> threads;
    for (int rank = 0; rank < size; ++rank) {
        threads.emplace_back([=] { run_rank(rank, size, patience, work); });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    return outcome;
}

}  // namespace headscope::mpi_tests
