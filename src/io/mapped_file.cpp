#include "io/mapped_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "support/check.h"

namespace headscope {

namespace {

class Descriptor {
public:
    explicit Descriptor(int value) : value_(value) {}
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    ~Descriptor() {
        if (value_ >= 0) {
            ::close(value_);
        }
    }
    int value() const { return value_; }

private:
    int value_;
};

[[noreturn]] void fail(const std::string& path, int error) {
    throw Error(fmt::format("cannot read '{}': {}", path, std::generic_category().message(error)));
}

}  // namespace

MappedFile::MappedFile(const std::string& path) {
    // Without O_NONBLOCK opening a pipe without a writer would block before it can be rejected.
    const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    struct stat status {};
    if (file.value() < 0 || ::fstat(file.value(), &status) != 0) {
        fail(path, errno);
    }
    if (!S_ISREG(status.st_mode)) {
        throw Error(fmt::format("cannot read '{}': it is not a regular file", path));
    }
    const auto size = static_cast<std::size_t>(status.st_size);
    if (size == 0) {
        return;
    }
    void* start = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.value(), 0);
    if (start == MAP_FAILED) {
        fail(path, errno);
    }
    bytes_ = {static_cast<const std::byte*>(start), size};
}

void MappedFile::release(std::span<const std::byte> part) const {
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    const std::size_t skipped = static_cast<std::size_t>(part.data() - bytes_.data()) % page;
    if (!part.empty()) {
        // Advice: that it is not taken does no harm.
        static_cast<void>(
            ::madvise(const_cast<std::byte*>(part.data() - skipped), part.size() + skipped, MADV_DONTNEED));
    }
}

MappedFile::~MappedFile() {
    if (!bytes_.empty()) {
        // munmap takes a plain pointer; the pages themselves are never written.
        ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
    }
}

}  // namespace headscope
