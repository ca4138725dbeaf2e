#include "trees/tree_vocabulary.h"

#include <algorithm>
#include <string>
#include <vector>

namespace headscope {

std::string other_bracket(std::string symbol) {
    symbol.front() = symbol.front() == '(' ? ')' : '(';
    return symbol;
}

std::optional<Terminals> terminals_in(const Tokenizer& symbols) {
    std::vector<std::string> texts;
    for (const Piece& piece : symbols.vocabulary().pieces()) {
        if (piece.kind == PieceKind::Normal) {
            texts.push_back(piece.text);
        }
    }
    const auto opens = [&](const std::string& text) {
        return text.starts_with('(') && symbols.vocabulary().find(other_bracket(text));
    };
    if (symbols.type() != TokenizerType::Words || std::none_of(texts.begin(), texts.end(), opens)) {
        return std::nullopt;
    }
    return terminals_among(texts);
}

}  // namespace headscope
