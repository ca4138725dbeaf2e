// Unicode's normal forms.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "text/aligned_text.h"

namespace headscope {

using MapCharacter = std::int32_t (*)(std::int32_t character, void*);

// Applies utf8proc with `options` to UTF-8 text, after replacing each character by `map`. A run of more than 30 marks
// is normalized in parts, as in the Stream-Safe Text Format of UAX #15, because utf8proc sorts marks in quadratic time.
std::string normalised_by(std::string_view text, int options, MapCharacter map = nullptr);

// The same for characters that know from which bytes they were made.
AlignedText normalised_by(const AlignedText& text, int options);

// NFKC. Text that is not UTF-8 is kept.
std::string nfkc(std::string_view text);

}  // namespace headscope
