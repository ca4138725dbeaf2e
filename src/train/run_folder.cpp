#include "train/run_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <limits>
#include <system_error>
#include <utility>
#include <vector>

#include "support/check.h"
#include "train/checkpoint.h"
#include "train/run_totals.h"

namespace headscope {
namespace {

std::string reason(int error) {
    return std::generic_category().message(error);
}

// The holder's process number, for the message.
void sign(int lock) {
    const std::string text = fmt::format("{}\n", ::getpid());
    // A number that cannot be written is missing in the message alone; the lock is held.
    if (::ftruncate(lock, 0) == 0) {
        static_cast<void>(::pwrite(lock, text.data(), text.size(), 0) < 0);
    }
}

std::string holder(const std::string& file) {
    std::string number;
    std::getline(std::ifstream(file) >> std::ws, number);
    return number.empty() ? "" : fmt::format(" (process {})", number);
}

}  // namespace

RunFolder::RunFolder(std::string path, const Say& say) : path_(std::move(path)) {
    std::error_code failure;
    std::filesystem::create_directories(path_, failure);
    if (failure) {
        throw Error(fmt::format("cannot make the folder '{}': {}; choose another --output", path_, failure.message()));
    }
    const std::string file = (std::filesystem::path(path_) / "lock").string();
    lock_ = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (lock_ < 0) {
        throw Error(fmt::format("cannot write in '{}': opening '{}' failed: {}; choose another --output", path_, file,
                                reason(errno)));
    }
    if (::flock(lock_, LOCK_EX | LOCK_NB) == 0) {
        sign(lock_);
        return;
    }
    const int error = errno;
    if (error == EWOULDBLOCK) {
        ::close(std::exchange(lock_, -1));
        throw Error(
            fmt::format("'{}' belongs to a training that is running{}: wait for its end, stop it, or choose "
                        "another --output",
                        path_, holder(file)));
    }
    say(fmt::format("warning: '{}' cannot be locked ({}): see to it that no second training writes there", path_,
                    reason(error)));
}

RunFolder::~RunFolder() {
    if (lock_ >= 0) {
        ::close(lock_);
    }
}

bool RunFolder::holds_checkpoints() const {
    return !CheckpointFolder((std::filesystem::path(path_) / "checkpoints").string()).steps().empty();
}

std::int64_t RunFolder::recorded_batch() const {
    const CheckpointFolder checkpoints((std::filesystem::path(path_) / "checkpoints").string());
    const std::vector<Checkpoint> found =
        checkpoints.newest_whole(1, std::numeric_limits<std::int64_t>::max(), [](const std::string&) {});
    if (found.empty()) {
        throw Error(
            fmt::format("none of the checkpoints in '{}' can be used, and they alone know the size of a step: "
                        "restore one from a copy, or choose another --output to begin anew",
                        path_));
    }
    const nlohmann::json& config = found.front().state().at("config");
    return count_at(config, "training.source_tokens");
}

void RunFolder::require_unused() const {
    if (holds_checkpoints()) {
        throw Error(fmt::format(
            "'{}' already holds checkpoints: continue that run with --resume, or choose another --output", path_));
    }
}

}  // namespace headscope
