// Changing the case of text by Unicode's rules, whatever the locale.
#pragma once

#include <string>
#include <string_view>

namespace headscope {

// Simple case folding, one code point for one: each capital becomes its small letter, and a final sigma a sigma. Bytes
// that are not UTF-8 are kept.
std::string fold_case(std::string_view text);

// Python's str.lower, which is what sacreBLEU scores with: the full mapping, where a dotted capital I becomes an i and
// a combining dot, and a capital sigma that ends a word a final sigma. Bytes that are not UTF-8 are kept.
std::string lower_case(std::string_view text);

}  // namespace headscope
