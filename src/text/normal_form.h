// Unicode's normal forms.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace headscope {

using MapCharacter = std::int32_t (*)(std::int32_t character, void*);

// What utf8proc makes of text in UTF-8 by `options`, with each character replaced by `map` first. A run of more than 30
// marks is normalised in parts, as in UAX #15's Stream-Safe Text Format: utf8proc sorts marks in quadratic time.
std::string normalised_by(std::string_view text, int options, MapCharacter map = nullptr);

// NFKC, the same for all normal forms of a text. Text that is not UTF-8 is kept.
std::string nfkc(std::string_view text);

}  // namespace headscope
