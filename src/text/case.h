// Letters without their case, whatever the locale.
#pragma once

#include <string>
#include <string_view>

namespace headscope {

// Each capital below U+1F00 (Latin, Greek, Cyrillic, Armenian, Georgian and more) as its small letter of one code
// point; every other byte stays, also where it is no UTF-8. "SS" stays "ss", and letters that are made of several code
// points are not composed.
std::string fold_case(std::string_view text);

}  // namespace headscope
