// The masks of attention's tests, and shapes of weights [batch, heads, queries, keys].
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include "backend/attention_mask.h"
#include "conformance/case.h"

namespace headscope::conformance {

enum class Ranges : std::uint8_t {
    None,
    Documents,  // of `size` positions, one longer in each further sentence
    Window,     // `size` keys on each side of a query's own
    Tail,       // all keys from `size` behind a query's own
    Odd,        // empty, reversed and past both ends, with keys between them that no query sees
};

struct Rule {
    bool lengths = false;
    bool causal = false;
    std::int64_t offset = -1;  // absent
    Ranges ranges = Ranges::None;
    std::int64_t size = 0;
    std::int64_t window = 0;  // AttentionMask::window
    std::string title() const {
        constexpr std::array kNames{"", " documents", " window", " tail", " odd ranges"};
        return fmt::format("{}{}{}{}{}{}", lengths ? " lengths" : "", causal ? " causal" : "",
                           offset < 0 ? "" : fmt::format(" offset {}", offset),
                           kNames.at(static_cast<std::size_t>(ranges)), size == 0 ? "" : fmt::format(" of {}", size),
                           window == 0 ? "" : fmt::format(" within {}", window));
    }
};

// The keys [begin, end) of one query.
using KeyRange = std::array<std::int64_t, 2>;

inline KeyRange range_of(const Rule& rule, std::int64_t sentence, std::int64_t query, std::int64_t keys) {
    constexpr std::int64_t kLeast = std::numeric_limits<std::int32_t>::min();
    constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
    switch (rule.ranges) {
        case Ranges::None: break;
        case Ranges::Documents: {
            const std::int64_t length = rule.size + sentence;
            return {query / length * length, query / length * length + length};
        }
        case Ranges::Window: return {query - rule.size, query + rule.size + 1};
        case Ranges::Tail: return {query + rule.size, kMost};
        case Ranges::Odd: {
            const std::array<KeyRange, 8> all{{{-5, 1},
                                               {keys - 1, kMost},
                                               {2, 2},
                                               {keys / 2, keys / 2 + 1},
                                               {5, 1},
                                               {kMost, kLeast},
                                               {keys + 3, keys + 9},
                                               {kLeast, sentence == 0 ? 1 : kMost}}};
            return all.at(static_cast<std::size_t>((query + sentence) % 8));
        }
    }
    return {kLeast, kMost};
}

inline const std::vector<Rule>& rules() {
    static const std::vector<Rule> kRules{{},
                                          {.lengths = true},
                                          {.causal = true},
                                          {.lengths = true, .causal = true},
                                          {.causal = true, .offset = 2},
                                          {.lengths = true, .causal = true, .offset = 0},
                                          {.causal = true, .offset = 1000000},
                                          {.ranges = Ranges::Documents, .size = 3},
                                          {.causal = true, .ranges = Ranges::Documents, .size = 4},
                                          {.lengths = true, .ranges = Ranges::Window, .size = 1},
                                          {.causal = true, .offset = 2, .ranges = Ranges::Window, .size = 2},
                                          {.ranges = Ranges::Odd},
                                          {.lengths = true, .causal = true, .offset = 2, .ranges = Ranges::Odd},
                                          {.window = 1},
                                          {.lengths = true, .offset = 1, .window = 2},
                                          {.causal = true, .window = 3},
                                          {.causal = true, .offset = 4, .window = 2},
                                          {.offset = 1000000, .window = 1000},
                                          {.ranges = Ranges::Odd, .window = 3},
                                          {.causal = true, .ranges = Ranges::Documents, .size = 7, .window = 4}};
    return kRules;
}

// Sentences with one key, with none, and with more than there are.
inline constexpr std::array<std::int64_t, 4> kLengths{1, 0, 1000, 3};

// `weights` [batch, heads, queries, keys]
inline std::vector<Operand> with_mask(std::vector<Operand> operands, const Rule& rule, const Shape& weights) {
    if (rule.lengths) {
        operands.push_back({"key_lengths", {weights[0]}, these({kLengths.begin(), kLengths.end()})});
    }
    if (rule.ranges != Ranges::None) {
        Values ranges;
        for (std::int64_t row = 0; row < weights[0] * weights[2]; ++row) {
            for (const std::int64_t end : range_of(rule, row / weights[2], row % weights[2], weights[3])) {
                ranges.push_back(static_cast<double>(end));
            }
        }
        operands.push_back({"key_ranges", {weights[0], weights[2], 2}, these(ranges)});
    }
    if (rule.offset >= 0) {
        operands.push_back({"query_offset", {1}, these({static_cast<double>(rule.offset)})});
    }
    return operands;
}

inline AttentionMask mask_of(const Operands& t, const Rule& rule) {
    return {.key_lengths = t.maybe("key_lengths"),
            .causal = rule.causal,
            .query_offset = t.maybe("query_offset"),
            .key_ranges = t.maybe("key_ranges"),
            .window = rule.window};
}

// Whether some query of the sentence may see the key.
inline bool is_seen(const Rule& rule, std::int64_t sentence, std::int64_t queries, std::int64_t keys,
                    std::int64_t key) {
    if (rule.lengths && key >= kLengths.at(static_cast<std::size_t>(sentence) % kLengths.size())) {
        return false;
    }
    for (std::int64_t query = 0; query < queries; ++query) {
        const KeyRange range = range_of(rule, sentence, query, keys);
        const std::int64_t position = std::max<std::int64_t>(rule.offset, 0) + query;
        const bool in_past = !rule.causal || key <= position;
        const bool near = rule.window == 0 || std::abs(position - key) < rule.window;
        if (in_past && near && range[0] <= key && key < range[1]) {
            return true;
        }
    }
    return false;
}

// `x`, keys or values [batch, heads, keys, depth], with NaN, infinities and the largest numbers at keys that no query
// may see.
inline Operand with_unseen_garbage(const Operand& x, const Rule& rule, std::int64_t queries) {
    return x.filled([shape = x.shape, rule, queries, inner = x.values](std::int64_t count, Random& random) {
        constexpr std::array kGarbage{kNan, kInfinity, -kInfinity, 3e38};
        Values values = inner(count, random);
        const auto depth = static_cast<std::size_t>(shape[3]);
        for (std::size_t first = 0; first < values.size(); first += depth) {
            const auto row = static_cast<std::int64_t>(first / depth);
            if (is_seen(rule, row / (shape[1] * shape[2]), queries, shape[2], row % shape[2])) {
                continue;
            }
            for (std::size_t i = first; i < first + depth; ++i) {
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
