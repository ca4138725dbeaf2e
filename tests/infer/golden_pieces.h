// Tokenizers of the golden files, and ids of their pieces.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "text/tokenizer.h"

namespace headscope {

inline Tokenizer golden_tokenizer(const std::string& name) {
    return Tokenizer::load(HEADSCOPE_SOURCE_DIR "/tests/golden/tokenizers/" + name + ".json");
}

inline std::vector<std::int32_t> ids_of_pieces(const Tokenizer& tokenizer, const std::vector<std::string>& pieces) {
    std::vector<std::int32_t> ids;
    for (const std::string& piece : pieces) {
        ids.push_back(tokenizer.vocabulary().find(piece).value());
    }
    return ids;
}

}  // namespace headscope
