#include "train/run_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "io/atomic_file.h"
#include "model/model_directory.h"
#include "support/check.h"
#include "train/checkpoint.h"
#include "train/run_totals.h"

namespace headscope {
namespace {

namespace fs = std::filesystem;

// By a run, before its first step: the configuration, to which the rest belongs, then files and their folders.
constexpr const char* kConfigFile = "training.json";
constexpr std::array kFiles = {"log.jsonl",
                               "tokenizer/sentencepiece.model",
                               "tokenizer/source.model",
                               "tokenizer/target.model",
                               "data/train.source",
                               "data/train.target",
                               "data/valid.source",
                               "data/valid.target",
                               "data/.headscope-written.json"};
// By a run that goes on.
constexpr const char* kLockFile = "lock";
constexpr std::array kLaterFiles = {"best.safetensors", kLockFile};
constexpr std::array kLaterFolders = {"checkpoints"};
constexpr const char* kModelFolder = "model";
constexpr std::array kFolders = {"checkpoints", "data", "tensorboard", "tokenizer"};

std::string reason(int error) {
    return std::generic_category().message(error);
}

bool all_digits(std::string_view text) {
    return std::all_of(text.begin(), text.end(), [](char c) { return (c >= '0' && c <= '9') || c == '\n'; });
}

// The holder's process number, for the message. A file of that name which holds something else is somebody's.
void sign(int lock) {
    std::array<char, 32> there{};
    const ssize_t length = ::pread(lock, there.data(), there.size(), 0);
    const bool ours = length >= 0 && static_cast<std::size_t>(length) < there.size() &&
                      all_digits({there.data(), static_cast<std::size_t>(length)});
    const std::string text = fmt::format("{}\n", ::getpid());
    // A number that cannot be written is missing in the message alone; the lock is held.
    if (ours && ::ftruncate(lock, 0) == 0) {
        static_cast<void>(::pwrite(lock, text.data(), text.size(), 0) < 0);
    }
}

// Whether a run was here: each signs its lock, which stays.
bool was_signed(const fs::path& run_folder) {
    std::string line;
    return std::getline(std::ifstream(run_folder / kLockFile), line) && !line.empty() && all_digits(line);
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

void refuse_inputs(const std::string& run_folder, const RunInputs& inputs) {
    const fs::path folder(run_folder);
    inputs.files.refuse((folder / kConfigFile).string());
    std::vector<std::string> written;
    for (const std::string name : kFiles) {
        if (inputs.parts_texts || !name.starts_with("data/")) {
            written.push_back((folder / name).string());
        }
    }
    for (const char* name : kLaterFiles) {
        written.push_back((folder / name).string());
    }
    std::vector<std::string> folders = folders_of_model((folder / kModelFolder).string());
    for (const char* name : kLaterFolders) {
        folders.push_back((folder / name).string());
    }
    for (const std::string& inside : folders) {
        std::error_code failure;
        fs::recursive_directory_iterator entry(inside, failure);
        for (; !failure && entry != fs::recursive_directory_iterator(); entry.increment(failure)) {
            written.push_back(entry->path().string());
        }
    }
    for (const std::string& path : written) {
        inputs.files.refuse(path);
        inputs.config.refuse(path);
    }
}

void require_own_files(const std::string& run_folder) {
    const fs::path folder(run_folder);
    if (was_signed(folder)) {
        return;
    }
    const auto require_absent = [](const fs::path& path) {
        std::error_code ignored;
        if (fs::exists(fs::symlink_status(path, ignored)) && !(fs::is_directory(path) && fs::is_empty(path, ignored))) {
            throw Error(
                fmt::format("'{}' is there already and was not written by a training: move it away, or choose another "
                            "--output",
                            path.string()));
        }
    };
    require_absent(folder / kConfigFile);
    for (const std::string name : kFiles) {
        if (!name.starts_with("data/")) {  // whose record tells which are a run's
            require_absent(folder / name);
        }
    }
    for (const char* name : kLaterFiles) {
        if (name != kLockFile) {  // which stays as it is
            require_absent(folder / name);
        }
    }
    for (const std::string& model : folders_of_model((folder / kModelFolder).string())) {
        require_absent(model);
    }
}

RunFolder::RunFolder(std::string path, const Say& say)
    : path_(std::move(path)), lock_file_((fs::path(path_) / kLockFile).string()) {
    while (!open_and_lock(say)) {
    }
}

// False where the file was removed meanwhile, by a run that failed before it began.
bool RunFolder::open_and_lock(const Say& say) {
    folder_.emplace(path_);
    lock_ = ::open(lock_file_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    const bool made = lock_ >= 0;
    if (!made) {
        lock_ = ::open(lock_file_.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
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

// Beside a configuration that was there before nothing goes: this run's may have taken its place, and names the files.
void RunFolder::note_what_is_missing(bool lock) {
    const auto note = [this](const char* name) {
        if (!fs::exists(fs::symlink_status(fs::path(path_) / name))) {
            missing_.emplace_back(name);
        }
    };
    note(kConfigFile);
    if (!missing_.empty()) {
        std::for_each(kFiles.begin(), kFiles.end(), note);
        std::for_each(kFolders.begin(), kFolders.end(), note);
    }
    if (lock) {
        missing_.emplace_back(kLockFile);  // removed last
    }
}

RunFolder::~RunFolder() {
    if (!kept_) {
        for (const std::string& name : missing_) {
            std::error_code ignored;
            fs::remove(fs::path(path_) / name, ignored);  // of folders the empty ones: others may put things there, too
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
