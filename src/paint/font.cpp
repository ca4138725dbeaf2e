#include "paint/font.h"

// Embeds the font files with .incbin. The build defines their paths and the dependency on them.
#define HEADSCOPE_EMBED(symbol, path) \
    __asm__(                          \
        ".pushsection .rodata\n"      \
        ".balign 16\n" #symbol        \
        ":\n"                         \
        ".incbin \"" path "\"\n" #symbol "_end:\n.popsection\n")

HEADSCOPE_EMBED(headscope_font_regular, HEADSCOPE_FONT_REGULAR);
HEADSCOPE_EMBED(headscope_font_bold, HEADSCOPE_FONT_BOLD);

extern "C" {
__attribute__((visibility("hidden"))) extern const std::uint8_t headscope_font_regular[];
__attribute__((visibility("hidden"))) extern const std::uint8_t headscope_font_regular_end[];
__attribute__((visibility("hidden"))) extern const std::uint8_t headscope_font_bold[];
__attribute__((visibility("hidden"))) extern const std::uint8_t headscope_font_bold_end[];
}

namespace headscope {

std::span<const std::uint8_t> font_bytes(bool bold) {
    return bold ? std::span(headscope_font_bold, headscope_font_bold_end)
                : std::span(headscope_font_regular, headscope_font_regular_end);
}

}  // namespace headscope
