// Changes the case of text by Unicode's rules, independent of the locale.
#pragma once

#include <string>
#include <string_view>

namespace headscope {

// Simple case folding, one code point to one: capitals become small letters, and a final sigma becomes a sigma. Invalid
// UTF-8 bytes are kept.
std::string fold_case(std::string_view text);

// Python's str.lower, which sacreBLEU uses: the full mapping, in which a dotted capital I becomes an i and a combining
// dot, and a capital sigma at the end of a word becomes a final sigma. Invalid UTF-8 bytes are kept.
std::string lower_case(std::string_view text);

}  // namespace headscope
