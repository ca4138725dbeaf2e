// Unicode's property Sentence_Terminal, and which of its characters end a sentence only before a blank.
#pragma once

#include <cstdint>

namespace headscope {

enum class SentenceTerminal : std::uint8_t {
    None,
    BeforeBlank,  // of scripts with spaces, where it may also occur within a word; also the ellipsis
    Anywhere      // of East Asian and Brahmic scripts
};

SentenceTerminal sentence_terminal(char32_t character);

}  // namespace headscope
