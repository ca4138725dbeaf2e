#include "trees/tree_rules.h"

#include "trees/tree_vocabulary.h"

namespace headscope {

TreeRules::TreeRules(const Tokenizer& symbols) : end_(symbols.eos_id()) {
    const Vocabulary& vocabulary = symbols.vocabulary();
    for (const Piece& piece : vocabulary.pieces()) {
        Symbol symbol;
        if (piece.kind == PieceKind::Normal && !piece.text.empty()) {
            const bool opens = piece.text.front() == '(';
            const bool closes = piece.text.front() == ')';
            const auto partner = vocabulary.find(other_bracket(piece.text));
            if (!opens && !closes) {
                symbol.kind = Kind::Terminal;
            } else if (piece.text.size() > 1 && partner) {
                symbol = {opens ? Kind::Open : Kind::Close, *partner};
            }
        }
        symbols_.push_back(symbol);
    }
}

std::vector<std::int32_t> TreeRules::forbidden_after(const std::vector<std::int32_t>& written,
                                                     std::int64_t words) const {
    constexpr std::size_t kDeepest = 100;  // far deeper than treebanks are, so that a sequence ends
    std::vector<std::int32_t> open;        // the )X to come
    std::int64_t missing = words;
    bool empty = false;  // the innermost constituent has nothing yet
    for (const std::int32_t id : written) {
        const Symbol& symbol = symbols_[static_cast<std::size_t>(id)];
        empty = symbol.kind == Kind::Open;
        missing -= symbol.kind == Kind::Terminal ? 1 : 0;
        if (empty) {
            open.push_back(symbol.partner);
        } else if (symbol.kind == Kind::Close && !open.empty()) {
            open.pop_back();
        }
    }
    const auto may_follow = [&](std::int32_t id) {
        const Symbol& symbol = symbols_[static_cast<std::size_t>(id)];
        switch (symbol.kind) {
            case Kind::Open: return missing > 0 && open.size() < kDeepest;
            case Kind::Terminal: return missing > 0 && !open.empty();
            // The last one stays open until all words are in it.
            case Kind::Close: return !open.empty() && id == open.back() && !empty && (missing <= 0 || open.size() > 1);
            case Kind::Other: return id == end_ && missing <= 0 && open.empty();
        }
        return false;
    };
    std::vector<std::int32_t> forbidden;
    for (std::int32_t id = 0; id < static_cast<std::int32_t>(symbols_.size()); ++id) {
        if (!may_follow(id)) {
            forbidden.push_back(id);
        }
    }
    return forbidden;
}

}  // namespace headscope
