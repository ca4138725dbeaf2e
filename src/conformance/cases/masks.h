// The masks of attention's tests, and shapes of weights [batch, heads, queries, keys].
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "conformance/case.h"

namespace headscope::conformance {

struct Rule {
    bool lengths = false;
    bool causal = false;
    std::int64_t offset = -1;  // absent
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

// Sentences with one key, with none, and with more than there are.
inline constexpr std::array<std::int64_t, 4> kLengths{1, 0, 1000, 3};

inline std::vector<Operand> with_mask(std::vector<Operand> operands, const Rule& rule, std::int64_t batch) {
    if (rule.lengths) {
        operands.push_back({"key_lengths", {batch}, these({kLengths.begin(), kLengths.end()})});
    }
    if (rule.offset >= 0) {
        operands.push_back({"query_offset", {1}, these({static_cast<double>(rule.offset)})});
    }
    return operands;
}

inline AttentionMask mask_of(const Operands& t, const Rule& rule) {
    return {.key_lengths = t.maybe("key_lengths"), .causal = rule.causal, .query_offset = t.maybe("query_offset")};
}

// `x`, keys or values [batch, heads, keys, depth], with NaN, infinities and the largest numbers at keys that no query
// may see.
inline Operand with_unseen_garbage(const Operand& x, const Rule& rule, std::int64_t queries) {
    return x.filled([shape = x.shape, rule, queries, inner = x.values](std::int64_t count, Random& random) {
        constexpr std::array kGarbage{kNan, kInfinity, -kInfinity, 3e38};
        Values values = inner(count, random);
        for (std::size_t i = 0; i < values.size(); ++i) {
            const std::int64_t row = static_cast<std::int64_t>(i) / shape[3];
            const auto batch = static_cast<std::size_t>(row / (shape[1] * shape[2]));
            const bool in_sentence = !rule.lengths || row % shape[2] < kLengths.at(batch % kLengths.size());
            const bool in_past = !rule.causal || row % shape[2] < std::max<std::int64_t>(rule.offset, 0) + queries;
            if (!in_sentence || !in_past) {
                values[i] = kGarbage.at(i % kGarbage.size());
            }
        }
        return values;
    });
}

inline std::vector<Shape> weight_shapes() {
    return {{1, 1, 1, 1}, {2, 3, 5, 7}, {4, 2, 33, 33}, {3, 1, 3, 257}, {4, 2, 1, 9}, {2, 0, 3, 4}, {2, 2, 3, 0}};
}

}  // namespace headscope::conformance
