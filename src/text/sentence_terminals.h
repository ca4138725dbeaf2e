// Unicode's property Sentence_Terminal, and which of its marks end a sentence only before a blank.
#pragma once

#include <cstdint>

namespace headscope {

enum class SentenceTerminal : std::uint8_t {
    None,
    BeforeBlank,  // of scripts that put a space behind it, where it may also stand within a word; the ellipsis too
    Anywhere      // of East Asian and Brahmic scripts
};

SentenceTerminal sentence_terminal(char32_t character);

}  // namespace headscope
