#include "text/lines.h"

#include <fmt/format.h>

#include <utility>

#include "support/check.h"
#include "support/utf8.h"

namespace headscope {

LineReader::LineReader(const std::string& path, ByteOrderMark mark)
    : name_(path == "-" || path == "/dev/stdin" ? "standard input" : "'" + path + "'"), reader_(path, name_, mark) {}

bool LineReader::next_bytes(std::string& line) {
    line.clear();
    bool any = false;
    for (;;) {
        if (rest_.empty()) {
            rest_ = reader_.read();
            if (rest_.empty()) {
                number_ += any ? 1 : 0;
                return any;
            }
        }
        any = true;
        const std::size_t end = rest_.find('\n');
        line.append(rest_.substr(0, end));
        if (end != std::string_view::npos) {
            rest_.remove_prefix(end + 1);
            ++number_;
            return true;
        }
        rest_ = {};
    }
}

bool LineReader::next(std::string& line) {
    if (!next_bytes(line)) {
        return false;
    }
    if (first_invalid_utf8(line)) {
        fail_utf8(line);
    }
    return true;
}

void LineReader::fail_utf8(std::string_view line) const {
    const std::size_t at = first_invalid_utf8(line).value_or(0);
    throw Error(fmt::format("{} line {} is not UTF-8 (byte {} of the line is 0x{:02x}); convert the file to UTF-8",
                            name_, number_, at + 1, static_cast<unsigned char>(line.at(at))));
}

std::vector<std::string> read_lines(const std::string& path, ByteOrderMark mark) {
    LineReader reader(path, mark);
    std::vector<std::string> lines;
    for (std::string line; reader.next(line);) {
        lines.push_back(std::move(line));
    }
    return lines;
}

}  // namespace headscope
