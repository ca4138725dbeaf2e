// Text files, one sentence a line.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "io/unpacking_reader.h"

namespace headscope {

// The lines of a file one after the other, plain or packed (io/unpacking_reader.h). LF alone
// ends a line: a CR, U+0085 or U+2028 is part of it; the last line may lack its LF. Error that names the file when it
// cannot be read; - and /dev/stdin are called standard input.
class LineReader {
public:
    explicit LineReader(const std::string& path);

    // False at the end. Error that names file and line for text that is not UTF-8.
    bool next(std::string& line);
    // The same of any bytes.
    bool next_bytes(std::string& line);

    std::size_t number() const { return number_; }     // of the last line, from 1
    const std::string& name() const { return name_; }  // for messages, in quotes where it is a file
    bool had_byte_order_mark() const { return reader_.had_byte_order_mark(); }  // it is not in the first line
    [[noreturn]] void fail_utf8(std::string_view line) const;                   // of the last line

private:
    std::string name_;
    UnpackingReader reader_;
    std::string_view rest_;
    std::size_t number_ = 0;
};

// All of them.
std::vector<std::string> read_lines(const std::string& path);

}  // namespace headscope
