// The masks that tests of attention go through, and the shapes of weights [batch, heads, queries, keys].
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "conformance/case.h"

namespace headscope::conformance {

struct Rule {
    bool lengths = false;
    bool causal = false;
    std::int64_t offset = -1;  // none given
    std::string title() const {
        return fmt::format("{}{}{}", lengths ? " lengths" : "", causal ? " causal" : "",
                           offset < 0 ? "" : fmt::format(" offset {}", offset));
    }
};

inline const std::vector<Rule>& rules() {
    static const std::vector<Rule> kRules{{},
                                          {.lengths = true},
                                          {.causal = true},
                                          {.lengths = true, .causal = true},
                                          {.causal = true, .offset = 2},
                                          {.lengths = true, .causal = true, .offset = 0},
                                          {.causal = true, .offset = 1000000}};
    return kRules;
}

// A sentence with one key, one with none at all, one with more than there are.
inline std::vector<Operand> with_mask(std::vector<Operand> operands, const Rule& rule, std::int64_t batch) {
    if (rule.lengths) {
        operands.push_back(indices("key_lengths", {batch}, these({1, 0, 1000, 3})));
    }
    if (rule.offset >= 0) {
        operands.push_back(indices("query_offset", {1}, these({static_cast<double>(rule.offset)})));
    }
    return operands;
}

inline AttentionMask mask_of(const Operands& t, const Rule& rule) {
    return {.key_lengths = t.maybe("key_lengths"), .causal = rule.causal, .query_offset = t.maybe("query_offset")};
}

inline std::vector<Shape> weight_shapes() {
    return {{1, 1, 1, 1}, {2, 3, 5, 7}, {4, 2, 33, 33}, {3, 1, 3, 257}, {4, 2, 1, 9}, {2, 0, 3, 4}, {2, 2, 3, 0}};
}

}  // namespace headscope::conformance
