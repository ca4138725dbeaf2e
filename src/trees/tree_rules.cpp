#include "trees/tree_rules.h"

#include <cstddef>
#include <map>
#include <optional>
#include <string>

#include "trees/levels.h"
#include "trees/tree_vocabulary.h"

namespace headscope {

namespace {

// The ids below `count` that may not follow.
template <typename MayFollow>
std::vector<std::int32_t> all_but(std::size_t count, const MayFollow& may_follow) {
    std::vector<std::int32_t> forbidden;
    for (std::int32_t id = 0; id < static_cast<std::int32_t>(count); ++id) {
        if (!may_follow(id)) {
            forbidden.push_back(id);
        }
    }
    return forbidden;
}

// Of symbols that open and close constituents.
class BracketRules final : public TreeRules {
public:
    explicit BracketRules(const Tokenizer& symbols) : end_(symbols.eos_id()) {
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

    std::vector<std::int32_t> forbidden_after(const std::vector<std::int32_t>& written,
                                              std::int64_t words) const override {
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
        return all_but(symbols_.size(), [&](std::int32_t id) {
            const Symbol& symbol = symbols_[static_cast<std::size_t>(id)];
            switch (symbol.kind) {
                case Kind::Open: return missing > 0 && open.size() < kDeepest;
                case Kind::Terminal: return missing > 0 && !open.empty();
                // The last one stays open until all words are in it.
                case Kind::Close:
                    return !open.empty() && id == open.back() && !empty && (missing <= 0 || open.size() > 1);
                case Kind::Other: return id == end_ && missing <= 0 && open.empty();
            }
            return false;
        });
    }

private:
    enum class Kind : std::uint8_t { Other, Open, Close, Terminal };
    struct Symbol {
        Kind kind = Kind::Other;
        std::int32_t partner = -1;  // )X of (X, and the other way round
    };
    std::vector<Symbol> symbols_;  // by id
    std::int32_t end_;
};

// Of symbols that say what words share: each word has one, and what is open keeps its label.
class LevelRules final : public TreeRules {
public:
    explicit LevelRules(const Tokenizer& symbols) : end_(symbols.eos_id()) {
        std::map<std::string, std::int32_t> labels;
        for (const Piece& piece : symbols.vocabulary().pieces()) {
            symbols_.emplace_back();
            const auto level = piece.kind == PieceKind::Normal ? level_symbol(piece.text) : std::nullopt;
            if (level) {
                const auto next = static_cast<std::int32_t>(labels.size());
                symbols_.back() = {level->shared.empty() ? Kind::Last : Kind::Shares, level->rise,
                                   labels.emplace(level->shared, next).first->second};
            }
        }
    }

    std::vector<std::int32_t> forbidden_after(const std::vector<std::int32_t>& written,
                                              std::int64_t words) const override {
        std::vector<Open> open;  // from the outermost one, at rising levels
        std::int64_t level = 0;
        for (const std::int32_t id : written) {
            const Symbol& symbol = symbols_[static_cast<std::size_t>(id)];
            level += symbol.rise;
            while (!open.empty() && open.back().level > level) {
                open.pop_back();
            }
            if (open.empty() || open.back().level < level) {
                open.push_back({level, symbol.label});
            }
        }
        const std::int64_t missing = words - static_cast<std::int64_t>(written.size());
        return all_but(symbols_.size(), [&](std::int32_t id) {
            const Symbol& symbol = symbols_[static_cast<std::size_t>(id)];
            switch (symbol.kind) {
                case Kind::Shares: return missing > 1 && fits(open, {level + symbol.rise, symbol.label});
                case Kind::Last: return missing == 1;
                case Kind::Other: return id == end_ && missing <= 0;
            }
            return false;
        });
    }

private:
    enum class Kind : std::uint8_t { Other, Shares, Last };
    struct Symbol {
        Kind kind = Kind::Other;
        std::int64_t rise = 0;
        std::int32_t label = -1;
    };
    struct Open {
        std::int64_t level;
        std::int32_t label;
    };

    // Whether the constituent is new, or is open with this label.
    static bool fits(const std::vector<Open>& open, const Open& shared) {
        for (const Open& one : open) {
            if (one.level == shared.level) {
                return one.label == shared.label;
            }
        }
        return shared.level >= 1;
    }

    std::vector<Symbol> symbols_;  // by id
    std::int32_t end_;
};

}  // namespace

std::unique_ptr<const TreeRules> tree_rules(const Tokenizer& symbols, Terminals terminals) {
    if (terminals == Terminals::Levels) {
        return std::make_unique<LevelRules>(symbols);
    }
    return std::make_unique<BracketRules>(symbols);
}

}  // namespace headscope
