// Is this text UTF-8, and which characters does it hold?
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace headscope {

// Where the first byte stands that begins no well-formed character: overlong forms, surrogates and code points past
// U+10FFFF count as ill-formed (Unicode, table 3-7).
std::optional<std::size_t> first_invalid_utf8(std::string_view text);

// The character at `position`, which moves behind it; nothing where no well-formed one begins, and then it moves by one
// byte.
std::optional<char32_t> next_code_point(std::string_view text, std::size_t& position);

}  // namespace headscope
