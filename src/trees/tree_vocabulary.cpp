#include "trees/tree_vocabulary.h"

#include <algorithm>
#include <vector>

namespace headscope {

std::optional<Terminals> terminals_in(const Tokenizer& symbols) {
    const std::vector<Piece>& pieces = symbols.vocabulary().pieces();
    const auto opens = [&](const Piece& piece) {
        return piece.text.starts_with('(') && symbols.vocabulary().find(")" + piece.text.substr(1));
    };
    if (symbols.type() != TokenizerType::Words || std::none_of(pieces.begin(), pieces.end(), opens)) {
        return std::nullopt;
    }
    return symbols.vocabulary().find(kAnyTag) ? Terminals::Normalised : Terminals::Tags;
}

}  // namespace headscope
