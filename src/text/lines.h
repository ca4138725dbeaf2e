// Reads text files with one sentence per line.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "io/unpacking_reader.h"

namespace headscope {

// Reads a file line by line, plain or compressed (io/unpacking_reader.h). Only LF ends a line: CR, U+0085 and U+2028
// are part of it. The last line may lack its LF. Error that names the file if it cannot be read; - and /dev/stdin are
// called standard input.
class LineReader {
public:
    explicit LineReader(const std::string& path, ByteOrderMark mark = ByteOrderMark::Removed);

    // False at the end. Error that names file and line for text that is not UTF-8.
    bool next(std::string& line);
    // The same for any bytes.
    bool next_bytes(std::string& line);

    std::size_t number() const { return number_; }     // of the last line, from 1
    const std::string& name() const { return name_; }  // for messages, a file in quotes
    bool had_byte_order_mark() const { return reader_.had_byte_order_mark(); }
    [[noreturn]] void fail_utf8(std::string_view line) const;  // of the last line

private:
    std::string name_;
    UnpackingReader reader_;
    std::string_view rest_;
    std::size_t number_ = 0;
};

// Reads all lines.
std::vector<std::string> read_lines(const std::string& path, ByteOrderMark mark = ByteOrderMark::Removed);

}  // namespace headscope
