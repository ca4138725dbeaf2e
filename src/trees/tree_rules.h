// Keeps the sequences of a model that writes trees trees of their words, while it searches.
#pragma once

#include <cstdint>
#include <vector>

#include "text/tokenizer.h"

namespace headscope {

class TreeRules {
public:
    // Of a model with these target symbols, for which terminals_in() must have an answer.
    explicit TreeRules(const Tokenizer& symbols);

    // The symbols, the end included, after which `written` could no longer become one tree of `words` words in which
    // every constituent has a word; sequences of `written` that already cannot are not recognised. What remains always
    // has a continuation. `words` is at least 1.
    std::vector<std::int32_t> forbidden_after(const std::vector<std::int32_t>& written, std::int64_t words) const;

private:
    enum class Kind : std::uint8_t { Other, Open, Close, Terminal };
    struct Symbol {
        Kind kind = Kind::Other;
        std::int32_t partner = -1;  // )X of (X, and the other way round
    };
    std::vector<Symbol> symbols_;  // by id
    std::int32_t end_;
};

}  // namespace headscope
