// Keeps the sequences of a model that writes trees trees of their words, while it searches.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "text/tokenizer.h"
#include "trees/linearised.h"

namespace headscope {

class TreeRules {
public:
    virtual ~TreeRules() = default;

    // The symbols, the end included, after which `written` could no longer become one tree of `words` words in which
    // every constituent has a word; sequences of `written` that already cannot are not recognised. What remains always
    // has a continuation; of levels only if the vocabulary has a symbol with a rise above 0, and one of a last word.
    // `words` is at least 1.
    virtual std::vector<std::int32_t> forbidden_after(const std::vector<std::int32_t>& written,
                                                      std::int64_t words) const = 0;
};

// Of a model with these target symbols, in which `terminals` are what terminals_in() found.
std::unique_ptr<const TreeRules> tree_rules(const Tokenizer& symbols, Terminals terminals);

}  // namespace headscope
