// XML escaping.
#pragma once

#include <string>

namespace headscope {

// Escapes <, >, & and quotes. Invalid UTF-8 and characters that XML 1.0 forbids become U+FFFD.
std::string escape_xml(const std::string& text);

}  // namespace headscope
