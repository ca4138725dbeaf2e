#include "text/white_space.h"

namespace headscope {

// PropList.txt of Unicode 15.0.0; unchanged since 6.3.
bool is_white_space(char32_t c) {
    return (c >= 0x09 && c <= 0x0d) || c == 0x20 || c == 0x85 || c == 0xa0 || c == 0x1680 ||
           (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 || c == 0x202f || c == 0x205f || c == 0x3000;
}

bool is_no_break_space(char32_t c) {
    return c == 0xa0 || c == 0x2007 || c == 0x202f;
}

bool is_line_separator(char32_t c) {
    return (c >= 0x0a && c <= 0x0d) || c == 0x85 || c == 0x2028 || c == 0x2029;
}

}  // namespace headscope
