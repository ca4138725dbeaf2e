// Words on a shell's command line.
#pragma once

#include <string>

namespace headscope {

// 'it'\''s'
std::string shell_quoted(const std::string& text);

}  // namespace headscope
