// Decodes UTF-8 one code point at a time.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace headscope {

// Position of the first byte that does not begin a well-formed character. Overlong forms, surrogates and code points
// past U+10FFFF are ill-formed (Unicode, table 3-7).
std::optional<std::size_t> first_invalid_utf8(std::string_view text);

// Returns the character at `position` and moves past it. If there is no well-formed character, returns std::nullopt and
// moves one byte.
std::optional<char32_t> next_code_point(std::string_view text, std::size_t& position);

constexpr char32_t kReplacementCharacter = 0xFFFD;

// The same for display: U+FFFD for each byte that is not part of a well-formed character.
inline char32_t next_character(std::string_view text, std::size_t& position) {
    return next_code_point(text, position).value_or(kReplacementCharacter);
}

}  // namespace headscope
