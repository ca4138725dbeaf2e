// Text files, one sentence a line.
#pragma once

#include <string>
#include <vector>

namespace headscope {

// The lines of a file, plain or gzip (by content, whatever its name). LF alone ends a line: a CR, U+0085 or U+2028 is
// part of it; the last line may lack its LF. Error that names the file (and the line, for text that is not UTF-8);
// /dev/stdin is called standard input.
std::vector<std::string> read_lines(const std::string& path);

}  // namespace headscope
