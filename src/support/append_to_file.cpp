#include "support/append_to_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "support/check.h"

namespace headscope {
namespace {

class File {
public:
    explicit File(const std::string& path)
        : path_(path), descriptor_(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)) {
        if (descriptor_ < 0) {
            fail(errno);
        }
    }
    File(const File&) = delete;
    File& operator=(const File&) = delete;
    ~File() {
        if (descriptor_ >= 0) {
            ::close(descriptor_);
        }
    }

    off_t size() const {
        struct stat found {};
        if (::fstat(descriptor_, &found) != 0) {
            fail(errno);
        }
        return found.st_size;
    }
    std::string read(off_t at, std::size_t bytes) const {
        std::string text(bytes, '\0');
        const ssize_t got = bytes == 0 ? 0 : ::pread(descriptor_, text.data(), bytes, at);
        if (got < 0) {
            fail(errno);
        }
        text.resize(static_cast<std::size_t>(got));
        return text;
    }
    int write(off_t at, std::string_view text) const {  // 0 or an errno
        if (::lseek(descriptor_, at, SEEK_SET) < 0) {
            return errno;
        }
        while (!text.empty()) {
            const ssize_t written = ::write(descriptor_, text.data(), text.size());
            if (written < 0 && errno != EINTR) {
                return errno;
            }
            text.remove_prefix(static_cast<std::size_t>(written < 0 ? 0 : written));
        }
        return 0;
    }
    void cut(off_t size) const { static_cast<void>(::ftruncate(descriptor_, size) == 0); }
    int close() {  // 0 or an errno
        return ::close(std::exchange(descriptor_, -1)) == 0 ? 0 : errno;
    }
    [[noreturn]] void fail(int error) const {
        throw Error("cannot write to '" + path_ + "': " + std::generic_category().message(error));
    }

private:
    std::string path_;
    int descriptor_;
};

}  // namespace

void append_to_file(const std::string& path, std::string_view text, std::size_t replaced) {
    File file(path);
    const off_t size = file.size();
    const off_t at = size - static_cast<off_t>(replaced);
    if (at < 0) {
        throw Error("cannot write to '" + path + "': it was truncated by another program");
    }
    const std::string before = file.read(at, replaced);
    if (const int error = file.write(at, text); error != 0) {
        file.cut(at);
        file.write(at, before);
        file.fail(error);
    }
    if (const int error = file.close(); error != 0) {
        file.fail(error);
    }
}

}  // namespace headscope
