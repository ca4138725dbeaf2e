#include "train/run_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <limits>
#include <system_error>
#include <utility>
#include <vector>

#include "io/still_named.h"
#include "support/check.h"
#include "train/checkpoint.h"
#include "train/run_totals.h"

namespace headscope {
namespace {

namespace fs = std::filesystem;

// By a run, before and in its first step.
constexpr std::array kWritten = {"checkpoints", "data", "log.jsonl", "tensorboard", "tokenizer", "training.json"};

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

bool holds_checkpoints(const std::string& run_folder) {
    const fs::path checkpoints = fs::path(run_folder) / "checkpoints";
    std::error_code ignored;  // what cannot be looked into is no folder to write to either
    return fs::is_directory(checkpoints, ignored) && !CheckpointFolder(checkpoints.string()).steps().empty();
}

void require_unused(const std::string& run_folder) {
    if (holds_checkpoints(run_folder)) {
        throw Error(fmt::format(
            "'{}' already holds checkpoints: continue that run with --resume, or choose another --output", run_folder));
    }
}

RunFolder::RunFolder(std::string path, const Say& say)
    : path_(std::move(path)), lock_file_((fs::path(path_) / "lock").string()) {
    while (!open_and_lock(say)) {
    }
}

// False where the file was removed meanwhile, by a run that failed before it began.
bool RunFolder::open_and_lock(const Say& say) {
    folder_.emplace(path_);
    lock_ = ::open(lock_file_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    const bool made = lock_ >= 0;
    if (!made) {
        lock_ = ::open(lock_file_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    }
    if (lock_ < 0) {
        throw Error(fmt::format("cannot write in '{}': opening '{}' failed: {}; choose another --output", path_,
                                lock_file_, reason(errno)));
    }
    if (::flock(lock_, LOCK_EX | LOCK_NB) == 0) {
        if (!still_named(lock_, lock_file_)) {
            ::close(std::exchange(lock_, -1));
            return false;
        }
        sign(lock_);
        note_what_is_missing(made);
        return true;
    }
    const int error = errno;
    if (error == EWOULDBLOCK) {
        ::close(std::exchange(lock_, -1));
        throw Error(
            fmt::format("'{}' belongs to a training that is running{}: wait for its end, stop it, or choose "
                        "another --output",
                        path_, holder(lock_file_)));
    }
    say(fmt::format("warning: '{}' cannot be locked ({}): see to it that no second training writes there", path_,
                    reason(error)));
    return true;
}

void RunFolder::note_what_is_missing(bool lock) {
    for (const char* name : kWritten) {
        if (!fs::exists(fs::symlink_status(fs::path(path_) / name))) {
            missing_.emplace_back(name);
        }
    }
    if (lock) {
        missing_.emplace_back("lock");  // removed last
    }
}

RunFolder::~RunFolder() {
    if (!kept_) {
        for (const std::string& name : missing_) {
            std::error_code ignored;
            fs::remove_all(fs::path(path_) / name, ignored);
        }
    }
    if (lock_ >= 0) {
        ::close(lock_);
    }
}

std::int64_t RunFolder::recorded_batch() const {
    const CheckpointFolder checkpoints((fs::path(path_) / "checkpoints").string());
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

}  // namespace headscope
