// Letters without their case, whatever the locale.
#pragma once

#include <string>
#include <string_view>

namespace headscope {

// For comparing: each capital as its small letter of one code point, and the sigma of a word's end as the other; every
// other byte stays, also where it is no UTF-8. "SS" stays "ss", and letters that are made of several code points are
// not composed.
std::string fold_case(std::string_view text);

// For scoring as others do: Unicode's lower case, as Python's str.lower has it. So a dotted capital I becomes an i and
// a dot, and a capital sigma that ends a Greek word that word's sigma ("ends": no Greek letter follows at once).
std::string lower_case(std::string_view text);

}  // namespace headscope
