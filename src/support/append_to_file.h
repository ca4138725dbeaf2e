// Files that grow while others read them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace headscope {

// Writes `text` at the end of the file, which is made where it is missing, in place of its last `replaced` bytes. Error
// with the path and the system's reason where that fails; then the file ends as it did before.
void append_to_file(const std::string& path, std::string_view text, std::size_t replaced = 0);

}  // namespace headscope
