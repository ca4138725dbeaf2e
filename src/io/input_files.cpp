#include "io/input_files.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "io/atomic_file.h"
#include "support/check.h"

namespace headscope {

namespace {

namespace fs = std::filesystem;

// Only regular files: devices and pipes may be read and written at the same time.
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

bool are_one_path(const std::string& a, const std::string& b) {
    const auto whole = [](const std::string& path) { return (fs::current_path() / path).lexically_normal(); };
    return whole(a) == whole(b);
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
        files_.push_back({found->st_dev, found->st_ino, path});
    }
}

void InputFiles::refuse_one(const std::optional<struct stat>& written, const std::string& path,
                            const std::string& name) const {
    for (const File& input : files_) {
        if (written && written->st_dev == input.device && written->st_ino == input.inode) {
            const std::string other = input.path == "-" ? "standard input" : "'" + input.path + "'";
            throw Error(fmt::format("{} would be written while it is read{}; choose another output", name,
                                    are_one_path(path, input.path) ? "" : ": it is the same file as " + other));
        }
    }
}

void InputFiles::refuse(const std::string& output) const {
    refuse_one(regular_stream(STDOUT_FILENO), "", "standard output");
    if (!trace_.empty()) {
        refuse_one(regular_file(trace_), trace_, fmt::format("the trace '{}' (HEADSCOPE_TRACE)", trace_));
    }
    if (!output.empty() && output != "-") {
        const std::string target = AtomicFile::target_of(output);
        refuse_one(regular_file(target), output, "'" + output + "'");
        refuse_one(regular_file(target + AtomicFile::kTemporaryEnding), output, "'" + output + "'");
    }
}

}  // namespace headscope
