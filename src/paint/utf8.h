// Reading UTF-8 a character at a time, for measuring and escaping labels.
#pragma once

#include <cstddef>
#include <string_view>

namespace headscope {

constexpr char32_t kReplacementCharacter = 0xFFFD;

// The character at `position`, which moves behind it. A byte that begins no valid sequence is one replacement
// character.
char32_t next_character(std::string_view text, std::size_t& position);

}  // namespace headscope
