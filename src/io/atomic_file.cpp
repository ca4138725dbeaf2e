#include "io/atomic_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include "io/mapped_file.h"
#include "support/check.h"

namespace headscope {

namespace {

// Linux moves at most about 2 GiB in one write.
constexpr std::size_t kLargestWrite = std::size_t{1} << 30U;

std::string folder_of(const std::string& path) {
    const std::string folder = std::filesystem::path(path).parent_path().string();
    return folder.empty() ? "." : folder;
}

// A rename is safe against a power cut only once the folder itself is on disk.
int sync_folder(const std::string& folder) {
    const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0) {
        return errno;
    }
    const int error = ::fsync(descriptor) == 0 ? 0 : errno;
    ::close(descriptor);
    return error;
}

// The name of the standard stream that writes to this file, or nullptr. Replacing the file would lose that output.
const char* stream_of(const struct stat& file) {
    const auto is_open_as = [&](int descriptor) {
        struct stat open {};
        return ::fstat(descriptor, &open) == 0 && open.st_dev == file.st_dev && open.st_ino == file.st_ino;
    };
    return is_open_as(STDOUT_FILENO) ? "standard output" : is_open_as(STDERR_FILENO) ? "standard error" : nullptr;
}

// Why this file cannot be replaced; empty if it can.
std::string obstacle(const struct stat& file) {
    if (!S_ISREG(file.st_mode)) {
        return "it exists and is not a regular file";
    }
    const char* stream = stream_of(file);
    return stream == nullptr ? "" : fmt::format("{} goes there", stream);
}

}  // namespace

void AtomicFile::require_replaceable(const std::string& path) {
    struct stat existing {};
    if (::stat(path.c_str(), &existing) == 0) {
        if (const std::string why = obstacle(existing); !why.empty()) {
            throw Error(fmt::format("cannot write '{}': {}; choose another path", path, why));
        }
    }
}

std::string AtomicFile::target_of(const std::string& path) {
    constexpr int kMostLinks = 40;  // the kernel's limit
    namespace fs = std::filesystem;
    fs::path at = path;
    std::error_code failure;
    for (int links = 0; fs::is_symlink(fs::symlink_status(at, failure)); ++links) {
        const fs::path next = fs::read_symlink(at, failure);
        if (failure || links == kMostLinks) {
            throw Error(fmt::format("cannot write '{}': its symbolic links form a loop; choose another path", path));
        }
        at = at.parent_path() / next;
    }
    return at.string();
}

AtomicFile::AtomicFile(std::string path) : path_(std::move(path)) {
    require_replaceable(path_);  // before following links: those in /proc/self/fd may not name files
    target_ = target_of(path_);
    temporary_ = target_ + kTemporaryEnding;
    struct stat existing {};
    const bool replaces = ::stat(target_.c_str(), &existing) == 0;
    open_and_lock();
    created_ = true;
    if (replaces) {
        constexpr mode_t kPermissions = 0777;
        // Only root may change the owner, and changing it can clear mode bits.
        static_cast<void>(::fchown(descriptor_, existing.st_uid, existing.st_gid) == 0);
        static_cast<void>(::fchmod(descriptor_, existing.st_mode & kPermissions) == 0);
    }
}

AtomicFile::~AtomicFile() {
    if (created_) {
        ::unlink(temporary_.c_str());
    }
    if (descriptor_ >= 0) {
        ::close(descriptor_);
    }
}

// The lock keeps two processes from writing to one temporary file. A file left by a killed writer is removed under its
// lock and created again, so that its mode and hard links do not matter. If the locked file was renamed or removed
// meanwhile, try again.
void AtomicFile::open_and_lock() {
    while (true) {
        descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        const bool fresh = descriptor_ >= 0;
        if (!fresh && errno == EEXIST) {
            require_left_over();
            descriptor_ = ::open(temporary_.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);
            if (descriptor_ < 0 && errno == ENOENT) {
                continue;  // its writer has just finished
            }
        }
        if (descriptor_ < 0) {
            fail("opening", errno);
        }
        // Without lock support in the filesystem the rename is still atomic.
        if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
            ::close(std::exchange(descriptor_, -1));
            throw Error(
                fmt::format("cannot write '{}': another process is writing it now; wait for it or stop it", path_));
        }
        if (still_named(descriptor_, temporary_)) {
            if (fresh) {
                return;
            }
            if (::unlink(temporary_.c_str()) != 0 && errno != ENOENT) {
                const int error = errno;
                ::close(std::exchange(descriptor_, -1));
                fail("removing", error);
            }
        }
        ::close(std::exchange(descriptor_, -1));
    }
}

// Error if something other than a leftover of this program has the temporary file's name.
void AtomicFile::require_left_over() const {
    struct stat existing {};
    if (::lstat(temporary_.c_str(), &existing) == 0) {
        if (const std::string why = obstacle(existing); !why.empty()) {
            throw Error(fmt::format("cannot write '{}': '{}' is in the way: {}; move it, or choose another path", path_,
                                    temporary_, why));
        }
    }
}

void AtomicFile::write(const void* data, std::size_t bytes) {
    HEADSCOPE_CHECK(descriptor_ >= 0, "write() after commit()");
    const char* from = static_cast<const char*>(data);
    while (bytes > 0) {
        const ssize_t written = ::write(descriptor_, from, std::min(bytes, kLargestWrite));
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written < 0) {
            fail("writing", errno);
        }
        from += written;
        bytes -= static_cast<std::size_t>(written);
    }
}

void AtomicFile::commit() {
    HEADSCOPE_CHECK(descriptor_ >= 0, "commit() called twice");
    if (::fsync(descriptor_) != 0) {
        fail("syncing", errno);
    }
    // Rename while holding the lock, so that no other writer can take the temporary file in between.
    if (std::rename(temporary_.c_str(), target_.c_str()) != 0) {
        fail("renaming", errno);
    }
    created_ = false;
    // Some network filesystems report a full disk only on close.
    if (::close(std::exchange(descriptor_, -1)) != 0) {
        fail("closing", errno);
    }
    if (const int error = sync_folder(folder_of(target_)); error != 0) {
        fail("syncing the folder of", error);
    }
}

void AtomicFile::fail(const char* doing, int error) const {
    const char* advice = "";
    if (error == ENOSPC || error == EDQUOT) {
        advice = "; free some space; the previous file is unchanged";
    } else if (error == ENOENT) {
        advice = "; create the folder first";
    }
    throw Error(fmt::format("cannot write '{}': {} '{}' failed: {}{}", path_, doing, temporary_,
                            std::generic_category().message(error), advice));
}

bool still_named(int open_file, const std::string& name) {
    struct stat mine {};
    struct stat named {};
    return ::fstat(open_file, &mine) == 0 && ::stat(name.c_str(), &named) == 0 && mine.st_ino == named.st_ino &&
           mine.st_dev == named.st_dev;
}

void atomic_write_file(const std::string& path, std::string_view bytes) {
    AtomicFile file(path);
    file.write(bytes);
    file.commit();
}

void atomic_copy_file(const std::string& from, const std::string& to) {
    const MappedFile file(from);
    atomic_write_file(to, {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()});
}

}  // namespace headscope
