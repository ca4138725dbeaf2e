// Appends to files that other programs may be reading.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace headscope {

// Writes `text` at the end of the file in place of its last `replaced` bytes. Creates a missing file. Error with the
// path and the system's reason on failure; then the file keeps its old contents.
void append_to_file(const std::string& path, std::string_view text, std::size_t replaced = 0);

}  // namespace headscope
