// Unicode's normal forms.
#pragma once

#include <string>
#include <string_view>

namespace headscope {

// NFKC, the same for all normal forms of a text. Text that is not UTF-8 is kept.
std::string nfkc(std::string_view text);

}  // namespace headscope
