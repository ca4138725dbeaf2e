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

#include "io/still_named.h"
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

}  // namespace

AtomicFile::AtomicFile(std::string path) : path_(std::move(path)), temporary_(path_ + ".tmp") {
    struct stat existing {};
    if (::stat(path_.c_str(), &existing) == 0 && !S_ISREG(existing.st_mode)) {
        throw Error(fmt::format("cannot write '{}': it exists and is not a regular file; choose another path", path_));
    }
    open_and_lock();
    created_ = true;
    if (::ftruncate(descriptor_, 0) != 0) {
        const int error = errno;
        ::close(std::exchange(descriptor_, -1));
        fail("emptying", error);
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

// The lock keeps two processes from writing into one temporary file. A writer that locked a file which was renamed
// meanwhile would hold the finished file, so the name is looked up again under the lock.
void AtomicFile::open_and_lock() {
    while (true) {
        descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
        if (descriptor_ < 0) {
            fail("opening", errno);
        }
        // A filesystem without locks still gives the all-or-nothing rename.
        if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
            ::close(std::exchange(descriptor_, -1));
            throw Error(
                fmt::format("cannot write '{}': another process is writing it now; wait for it or stop it", path_));
        }
        if (still_named(descriptor_, temporary_)) {
            return;
        }
        ::close(std::exchange(descriptor_, -1));
    }
}

void AtomicFile::write(const void* data, std::size_t bytes) {
    HEADSCOPE_CHECK(descriptor_ >= 0, "nothing is written after commit()");
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
    HEADSCOPE_CHECK(descriptor_ >= 0, "commit() is called once");
    if (::fsync(descriptor_) != 0) {
        fail("syncing", errno);
    }
    // Renamed while the lock is held, so that no other writer can take the temporary file in between.
    if (std::rename(temporary_.c_str(), path_.c_str()) != 0) {
        fail("renaming", errno);
    }
    created_ = false;
    // Some network filesystems report a full disk only on close.
    if (::close(std::exchange(descriptor_, -1)) != 0) {
        fail("closing", errno);
    }
    if (const int error = sync_folder(folder_of(path_)); error != 0) {
        fail("syncing the folder of", error);
    }
}

void AtomicFile::fail(const char* doing, int error) const {
    const char* advice = "";
    if (error == ENOSPC || error == EDQUOT) {
        advice = "; free some space, what stood there before is untouched";
    } else if (error == ENOENT) {
        advice = "; create the folder first";
    }
    throw Error(fmt::format("cannot write '{}': {} '{}' failed: {}{}", path_, doing, temporary_,
                            std::generic_category().message(error), advice));
}

void atomic_write_file(const std::string& path, std::string_view bytes) {
    AtomicFile file(path);
    file.write(bytes);
    file.commit();
}

}  // namespace headscope
