// Reading UTF-8 one code point at a time.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace headscope {

// The first byte that begins no well-formed character: overlong forms, surrogates and code points past U+10FFFF are
// ill-formed (Unicode, table 3-7).
std::optional<std::size_t> first_invalid_utf8(std::string_view text);

// Returns the character at `position` and moves past it. Where no well-formed one begins, returns nothing and moves one
// byte.
std::optional<char32_t> next_code_point(std::string_view text, std::size_t& position);

constexpr char32_t kReplacementCharacter = 0xFFFD;

// The same for display: one replacement character for each byte that is part of no well-formed character.
inline char32_t next_character(std::string_view text, std::size_t& position) {
    return next_code_point(text, position).value_or(kReplacementCharacter);
}

}  // namespace headscope
