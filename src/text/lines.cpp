#include "text/lines.h"

#include <fmt/format.h>
#include <zlib.h>

#include <array>
#include <cerrno>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "support/check.h"
#include "text/utf8.h"

namespace headscope {

namespace {

// zlib's reader passes plain files through.
class GzipReader {
public:
    GzipReader(const std::string& path, const std::string& name) : name_(name) {
        errno = 0;
        file_ = ::gzopen(path.c_str(), "rb");
        if (file_ == nullptr) {
            throw Error(fmt::format("cannot read {}: {}", name, std::generic_category().message(errno)));
        }
        ::gzbuffer(file_, 1U << 17U);
    }
    GzipReader(const GzipReader&) = delete;
    GzipReader& operator=(const GzipReader&) = delete;
    ~GzipReader() { ::gzclose(file_); }

    std::string_view read() {
        errno = 0;
        const int bytes = ::gzread(file_, buffer_.data(), static_cast<unsigned>(buffer_.size()));
        const int system = errno;
        int code = Z_OK;
        const char* reason = ::gzerror(file_, &code);
        if (code == Z_ERRNO) {
            throw Error(fmt::format("cannot read {}: {}", name_, std::generic_category().message(system)));
        }
        // A file that ends inside its gzip stream is no error to gzread until the end is asked for.
        if (bytes < 0 || (code != Z_OK && code != Z_STREAM_END)) {
            throw Error(fmt::format("cannot unpack {}: {}; it is damaged or cut short, fetch it again", name_, reason));
        }
        return {buffer_.data(), static_cast<std::size_t>(bytes)};
    }

private:
    const std::string& name_;
    gzFile file_ = nullptr;
    std::array<char, 1U << 16U> buffer_{};
};

}  // namespace

std::vector<std::string> read_lines(const std::string& path) {
    const std::string name = path == "/dev/stdin" ? "standard input" : "'" + path + "'";
    GzipReader reader(path, name);
    std::vector<std::string> lines;
    std::string line;
    const auto finish = [&] {
        if (const std::optional<std::size_t> at = first_invalid_utf8(line)) {
            throw Error(
                fmt::format("{} line {} is not UTF-8 (byte {} of the line is 0x{:02x}); convert the file to UTF-8",
                            name, lines.size() + 1, *at + 1, static_cast<unsigned char>(line[*at])));
        }
        lines.push_back(std::exchange(line, {}));
    };
    for (std::string_view rest = reader.read(); !rest.empty(); rest = reader.read()) {
        for (std::size_t end = rest.find('\n'); end != std::string_view::npos; end = rest.find('\n')) {
            line.append(rest.substr(0, end));
            finish();
            rest.remove_prefix(end + 1);
        }
        line.append(rest);
    }
    if (!line.empty()) {
        finish();
    }
    return lines;
}

}  // namespace headscope
