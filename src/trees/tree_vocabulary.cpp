#include "trees/tree_vocabulary.h"

#include <algorithm>
#include <utility>

#include "trees/levels.h"

namespace headscope {

std::string other_bracket(std::string symbol) {
    symbol.front() = symbol.front() == '(' ? ')' : '(';
    return symbol;
}

std::optional<Terminals> terminals_of(const std::set<std::string>& symbols) {
    const auto is_level = [](const std::string& symbol) { return level_symbol(symbol).has_value(); };
    if (!symbols.empty() && std::all_of(symbols.begin(), symbols.end(), is_level)) {
        return Terminals::Levels;
    }
    const auto opens = [&](const std::string& symbol) {
        return symbol.starts_with('(') && symbols.contains(other_bracket(symbol));
    };
    if (std::none_of(symbols.begin(), symbols.end(), opens)) {
        return std::nullopt;
    }
    return terminals_among({symbols.begin(), symbols.end()});
}

std::optional<Terminals> terminals_of_sequences(const std::vector<std::string>& sequences) {
    std::set<std::string> symbols;
    for (const std::string& sequence : sequences) {
        for (std::string& symbol : split_at_blanks(sequence)) {
            symbols.insert(std::move(symbol));
        }
    }
    return terminals_of(symbols);
}

std::optional<Terminals> terminals_in(const Tokenizer& symbols) {
    std::set<std::string> texts;
    for (const Piece& piece : symbols.vocabulary().pieces()) {
        if (piece.kind == PieceKind::Normal) {
            texts.insert(piece.text);
        }
    }
    return symbols.type() == TokenizerType::Words ? terminals_of(texts) : std::nullopt;
}

}  // namespace headscope
