// Unicode's property White_Space.
#pragma once

namespace headscope {

bool is_white_space(char32_t character);

// White space that does not break a line: U+00A0, U+2007 and U+202F.
bool is_no_break_space(char32_t character);

// White space that ends a line or a paragraph: LF, VT, FF, CR, U+0085, U+2028 and U+2029.
bool is_line_separator(char32_t character);

}  // namespace headscope
