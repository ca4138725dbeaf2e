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

// Written by a run before its first step: the configuration, other files and their folders.
constexpr const char* kConfigFile = "training.json";
constexpr std::array kFiles = {"log.jsonl",
                               "tokenizer/sentencepiece.model",
                               "tokenizer/source.model",
                               "tokenizer/target.model",
                               "tokenizer/tokenizer.json",
                               "tokenizer/vocabulary.json",
                               "tokenizer/source.vocabulary.json",
                               "tokenizer/target.vocabulary.json",
                               "data/train.source",
                               "data/train.target",
                               "data/valid.source",
                               "data/valid.target",
                               "data/train.text",
                               "data/valid.text",
                               "data/train.jsonl",
                               "data/valid.jsonl",
                               "data/.headscope-written.json"};
// Written later.
constexpr const char* kLockFile = "lock";
constexpr std::array kLaterFiles = {"best.safetensors", kLockFile};
constexpr const char* kModelFolder = "model";
constexpr std::array kFolders = {"checkpoints", "data", "tensorboard", "tokenizer"};

std::string reason(int error) {
    return std::generic_category().message(error);
}

bool all_digits(std::string_view text) {
    return std::all_of(text.begin(), text.end(), [](char c) { return (c >= '0' && c <= '9') || c == '\n'; });
}

// Writes the process number, for the message to others. Leaves a file with other content alone.
void sign(int lock) {
    std::array<char, 32> there{};
    const ssize_t length = ::pread(lock, there.data(), there.size(), 0);
    const bool ours = length >= 0 && static_cast<std::size_t>(length) < there.size() &&
                      all_digits({there.data(), static_cast<std::size_t>(length)});
    const std::string text = fmt::format("{}\n", ::getpid());
    // If that fails, only the message lacks the number; the lock is held.
    if (ours && ::ftruncate(lock, 0) == 0) {
        static_cast<void>(::pwrite(lock, text.data(), text.size(), 0) < 0);
    }
}

// Whether a run has used the folder: each one signs its lock file, which stays.
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
    std::error_code ignored;  // an unreadable folder fails later, when written to
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
        if (inputs.splits_texts || !name.starts_with("data/")) {
            written.push_back((folder / name).string());
        }
    }
    for (const char* name : kLaterFiles) {
        written.push_back((folder / name).string());
    }
    std::vector<std::string> folders = folders_of_model((folder / kModelFolder).string());
    folders.push_back((folder / "checkpoints").string());
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
                fmt::format("'{}' exists and was not written by a training: move it away, or choose another "
                            "--output",
                            path.string()));
        }
    };
    require_absent(folder / kConfigFile);
    for (const std::string name : kFiles) {
        if (!name.starts_with("data/")) {  // has its own record of generated files
            require_absent(folder / name);
        }
    }
    for (const char* name : kLaterFiles) {
        if (name != kLockFile) {  // is kept
            require_absent(folder / name);
        }
    }
    for (const std::string& model : folders_of_model((folder / kModelFolder).string())) {
        require_absent(model);
    }
}

RunFolder::RunFolder(std::string path, const Log& say)
    : path_(std::move(path)), lock_file_((fs::path(path_) / kLockFile).string()) {
    while (!open_and_lock(say)) {
    }
}

// False if a run that failed before its start removed the file meanwhile.
bool RunFolder::open_and_lock(const Log& say) {
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
        note_missing(made);
        return true;
    }
    const int error = errno;
    if (error == EWOULDBLOCK) {
        ::close(std::exchange(lock_, -1));
        throw Error(
            fmt::format("'{}' is used by a running training{}: wait for it, stop it, or choose another --output", path_,
                        holder(lock_file_)));
    }
    say(fmt::format("warning: '{}' cannot be locked ({}): make sure that no second training writes there", path_,
                    reason(error)));
    return true;
}

// If there is a configuration already, nothing will be removed: this run may replace it, and it names the files.
void RunFolder::note_missing(bool lock) {
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
            fs::remove(fs::path(path_) / name, ignored);  // folders only if empty, since others may use them
        }
    }
    if (lock_ >= 0) {
        ::close(lock_);
    }
}

std::int64_t RunFolder::recorded(const char* key, std::int64_t missing) const {
    const CheckpointFolder checkpoints((fs::path(path_) / "checkpoints").string());
    const std::vector<Checkpoint> found =
        checkpoints.newest_whole(1, std::numeric_limits<std::int64_t>::max(), [](const std::string&) {});
    if (found.empty()) {
        throw Error(
            fmt::format("none of the checkpoints in '{}' can be used, and only they record what a step is: "
                        "restore one from a copy, or start again with another --output",
                        path_));
    }
    const nlohmann::json& config = found.front().state().at("config");
    const std::string name = fmt::format("training.{}", key);
    return config.contains(name) ? count_at(config, name.c_str()) : missing;
}

}  // namespace headscope
