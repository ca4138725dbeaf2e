// The table by which SentencePiece normalises characters: "precompiled_charsmap".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "text/aligned_text.h"

namespace headscope {

class CharacterMap {
public:
    // WireError if the table is damaged: readers follow its offsets without bounds checks. An empty one maps nothing.
    static void check(std::string_view table);

    // The same error.
    explicit CharacterMap(std::string table) : table_(std::move(table)) { check(table_); }

    // As Hugging Face's tokenizers, which look up a grapheme of less than six bytes as a whole, and others by
    // character.
    AlignedText apply(const AlignedText& text) const;

private:
    // What replaces the text, by the shortest key with which it begins.
    std::optional<std::string_view> find(std::string_view text) const;

    std::string table_;
};

}  // namespace headscope
