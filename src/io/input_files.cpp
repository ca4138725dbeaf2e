#include "io/input_files.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <optional>
#include <system_error>

#include <fmt/format.h>

#include "io/atomic_file.h"
#include "support/check.h"

namespace headscope {

namespace {

namespace fs = std::filesystem;

// Devices and pipes may well be read and written at once.
std::optional<struct stat> regular(int failed, const struct stat& found) {
    return failed == 0 && S_ISREG(found.st_mode) ? std::optional(found) : std::nullopt;
}

std::optional<struct stat> regular_file(const std::string& path) {
    struct stat found {};
    return regular(::stat(path.c_str(), &found), found);
}

std::optional<struct stat> regular_stream(int descriptor) {
    struct stat found {};
    return regular(::fstat(descriptor, &found), found);
}

}  // namespace

void InputFiles::add(const std::string& path) {
    std::error_code failure;
    if (!fs::is_directory(path, failure)) {
        add_one(path);
        return;
    }
    fs::recursive_directory_iterator entry(path, fs::directory_options::skip_permission_denied, failure);
    for (; !failure && entry != fs::recursive_directory_iterator(); entry.increment(failure)) {
        add_one(entry->path().string());
    }
}

void InputFiles::add(const std::vector<std::string>& paths) {
    for (const std::string& path : paths) {
        add(path);
    }
}

void InputFiles::add_one(const std::string& path) {
    if (const auto found = path == "-" ? regular_stream(STDIN_FILENO) : regular_file(path)) {
        files_.push_back({found->st_dev, found->st_ino, path == "-" ? "standard input" : "'" + path + "'"});
    }
}

void InputFiles::refuse(const std::string& output) const {
    const bool standard = output.empty() || output == "-";
    const auto refuse_one = [&](const std::optional<struct stat>& written) {
        for (const File& input : files_) {
            if (written && written->st_dev == input.device && written->st_ino == input.inode) {
                throw Error(
                    fmt::format("{} would be written while it is read: it is the same file as {}; choose "
                                "another output",
                                standard ? "standard output" : "'" + output + "'", input.name));
            }
        }
    };
    if (standard) {
        refuse_one(regular_stream(STDOUT_FILENO));
        return;
    }
    const std::string target = AtomicFile::target_of(output);
    refuse_one(regular_file(target));
    refuse_one(regular_file(target + AtomicFile::kTemporaryEnding));
}

}  // namespace headscope
