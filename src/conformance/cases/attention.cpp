// The groups of attention.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "conformance/cases/attention_ops.h"
#include "conformance/cases/fused_attention.h"

#include "backend/ops/attention.h"
#include "conformance/cases/catalogue.h"

namespace headscope::conformance::attention_cases {

namespace {

std::vector<Case> softmax_cases() {
    std::vector<Case> cases;
    for (const Shape& shape : weight_shapes()) {
        for (const Rule& rule : rules()) {
            cases.push_back(softmax(shape, rule));
        }
    }
    cases.push_back(softmax({2, 3, 5, 33}, {.lengths = true}, 30.0));
    cases.push_back(softmax({3, 1, 345, 9}, {.lengths = true}));   // many short rows
    cases.push_back(softmax({2, 8, 70, 128}, {.lengths = true}));  // many rows that are kept between two passes
    cases.push_back(softmax({2, 8, 70, 123}, {.causal = true}));
    cases.push_back(softmax({2, 8, 70, 123}, {.ranges = Ranges::Window, .size = 9}));
    cases.push_back(softmax({1, 1, 5, 9000}, {.ranges = Ranges::Tail, .size = 4099}));  // longer than is kept
    cases.push_back(softmax({1, 1, 5, 2600}, {.ranges = Ranges::Odd}));
    cases.push_back(softmax({4, 8, 3000, 2}, {.causal = true}).past_a_grid());
    return cases;
}

std::vector<Case> distances_cases() {
    std::vector<Case> cases;
    for (const Shape& shape : weight_shapes()) {
        for (const Rule& rule : rules()) {
            cases.push_back(softmax_by_distance(shape, 3, rule));
        }
    }
    cases.push_back(softmax_by_distance({2, 3, 5, 7}, 0));
    cases.push_back(softmax_by_distance({1, 2, 40, 33}, 128));
    cases.push_back(softmax_by_distance({2, 3, 1, 24}, 5, {.causal = true, .offset = 17}));  // a decoding step
    cases.push_back(softmax_by_distance({1, 2, 3, 9}, 4, {.offset = 2147483647}));           // all as far as it goes
    cases.push_back(softmax_by_distance({3, 3, 345, 9}, 5, {.lengths = true}));              // many short rows
    cases.push_back(softmax_by_distance({2, 8, 70, 123}, 20, {.causal = true}));             // many rows that are kept
    cases.push_back(softmax_by_distance({1, 2, 5, 9000}, 128, {.ranges = Ranges::Tail, .size = 4099}));
    cases.push_back(softmax_by_distance({1, 2, 512, 512}, 128, {.causal = true}).past_a_grid());
    return cases;
}

std::vector<Case> diagonals_cases() {
    std::vector<Case> cases;
    for (const Shape& shape : weight_shapes()) {
        cases.push_back(sum_diagonals(shape));
    }
    cases.push_back(sum_diagonals({2, 3, 0, 4}));
    cases.push_back(sum_diagonals({2, 3, 0, 0}));
    cases.push_back(sum_diagonals({2, 3, 70, 1}));
    cases.push_back(sum_diagonals({16, 8, 65, 64}));
    cases.push_back(sum_diagonals({1, 1, 600, 300}));  // a head in several parts
    cases.push_back(sum_diagonals({1, 2, 512, 512}).past_a_grid());
    return cases;
}

std::vector<Case> forbidden_keys_cases() {
    // NaN, infinities and the largest numbers at keys 1.. of a sentence with one key and in the causal future.
    constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    Case lengths = softmax({1, 2, 3, 4}, {.lengths = true});
    lengths.name += " garbage";
    lengths.operands[0].values = these({0.5, kNan, kInfinity, 3e38});
    Case causal = softmax({1, 2, 3, 3}, {.causal = true});
    causal.name += " garbage";
    causal.operands[0].values = these({0.5, kNan, kInfinity, 1.0, -0.5, kNan, 0.1, 0.2, 0.3});
    return {lengths, causal};
}

// Of two heads the first has a NaN, which some queries see and others do not. Products with weights of 0 may spread it
// there, but not to the other.
Case spoiled(Case stated, const Heads& size, const std::string& operand_name) {
    stated = stated.holding(kNan, operand_name, static_cast<std::size_t>(20 * size.d_k));
    const auto head = static_cast<std::size_t>(size.queries * size.d_k);  // elements, of keys the same
    stated.accept = [head](const std::string& /*output*/, std::size_t index, double /*got*/,
                           const HostValues& /*inputs*/) { return index < head; };
    return stated;
}

std::vector<Case> special_values_cases() {
    constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    std::vector<Case> cases;
    for (const double value : {kNan, kInfinity, -kInfinity}) {
        cases.push_back(softmax({1, 2, 3, 33}, {}).holding(value, "scores", 40));
        cases.push_back(softmax_backward({1, 2, 3, 33}).holding(value, "grad_weights", 40));
    }
    // Of the second query, which sees two keys: the others have exactly 0 next to its NaN.
    cases.push_back(softmax({1, 1, 5, 8}, {.causal = true}).holding(kNan, "scores", 8));
    cases.push_back(attention({1, 2, 3, 9, 8, 8}, {.rule = {.causal = true}}).holding(kNan, "q", 9));
    cases.push_back(attention({1, 2, 3, 9, 8, 8}).holding(kNan, "v", 9));
    for (const double value : {kNan, kInfinity, -kInfinity}) {
        cases.push_back(attention({1, 1, 9, 40, 8, 8}, {.rule = {.causal = true, .offset = 3}}).holding(value, "q", 9));
        cases.push_back(attention({1, 1, 9, 40, 8, 8}).holding(value, "k", 9));
        cases.push_back(attention({1, 1, 2, 200, 1, 8}).holding(value, "k", 150));
    }
    // With infinity the order of the sums decides which gradients are NaN.
    cases.push_back(attention_backward({1, 1, 9, 40, 8, 8}).holding(kNan, "grad_out", 9));
    cases.push_back(attention_backward({1, 1, 9, 40, 8, 8}).holding(kNan, "v", 9));
    // Only scores of queries that see a key hold its NaN.
    const Manner causal{.rule = {.causal = true}};
    for (const Heads& size : {Heads{1, 2, 40, 40, 64, 64}, {1, 2, 131, 131, 16, 16}}) {
        cases.push_back(attention(size, causal).holding(kNan, "k", static_cast<std::size_t>(20 * size.d_k)));
        cases.push_back(spoiled(attention(size, causal), size, "v"));
        for (const char* name : {"q", "k", "v", "grad_out"}) {
            cases.push_back(spoiled(attention_backward(size, causal), size, name));
        }
    }
    return cases;
}

std::vector<Case> lost_keys_cases() {
    // More than any kernel handles in one step; each row of scores is k times a positive number.
    std::vector<Case> cases;
    for (const std::int64_t queries : {2, 9}) {
        for (const std::int64_t lost : {140, 200}) {
            Case stated = attention({1, 1, queries, 200, 1, 4});
            stated.name += fmt::format(" after {} lost keys", lost);
            stated.operands[0].values = uniform(0.5, 1.0);
            stated.operands[1].values = [lost](std::int64_t count, Random& random) {
                Values values = normal()(count, random);
                std::fill_n(values.begin(), lost, -std::numeric_limits<double>::infinity());
                return values;
            };
            cases.push_back(stated);
        }
    }
    return cases;
}

std::vector<Case> softmax_back_cases() {
    std::vector<Case> cases;
    for (const Shape& shape : weight_shapes()) {
        cases.push_back(softmax_backward(shape));
    }
    for (const std::int64_t keys : {32, 64, 96, 123, 128}) {
        cases.push_back(softmax_backward({2, 8, 64, keys}));  // many rows that are kept between two passes
    }
    cases.push_back(softmax_backward({3, 1, 345, 9}));  // many short rows
    return cases;
}

std::vector<Case> cache_cases() {
    std::vector<Case> cases;
    for (const Shape& shape : {Shape{1, 1, 1, 1}, Shape{2, 3, 1, 33}, Shape{2, 3, 5, 8}, Shape{3, 1, 4, 257}}) {
        for (const std::int64_t position : {0, 3, 5, 7, 8, 100}) {  // the last rows lie past a capacity of 8
            cases.push_back(cache_append(shape, 8, position));
        }
    }
    cases.push_back(cache_append({2, 3, 0, 8}, 8, 1));
    cases.push_back(cache_append({2, 3, 2, 8}, 0, 0));
    cases.push_back(cache_append({2, 3, 9, 4}, 4, 0));
    return cases;
}

std::vector<Case> masked_keys_cases() {
    std::vector<Case> cases;
    for (const Heads& size :
         {Heads{1, 1, 1, 1, 1, 1}, {2, 3, 5, 7, 8, 8}, {4, 2, 33, 65, 33, 7}, {4, 2, 1, 40, 32, 32}}) {
        for (const Rule& rule : rules()) {
            cases.push_back(mask_keys(size, rule));
        }
    }
    cases.push_back(mask_keys({1, 2, 3, 5000, 20, 1}, {.causal = true, .offset = 4200}));  // a head in several parts
    cases.push_back(mask_keys({1, 2, 8, 5000, 20, 1}, {.ranges = Ranges::Odd}));
    cases.push_back(mask_keys({2, 2, 3, 0, 4, 4}, {.lengths = true}));
    cases.push_back(mask_keys({2, 0, 3, 4, 4, 4}, {.lengths = true}));
    return cases;
}

std::vector<Case> fused_cases() {
    std::vector<Case> cases;
    for (const auto& [size, manner] : fused_sizes()) {
        cases.push_back(attention(size, manner));
    }
    for (const std::int64_t queries : {1, 9}) {
        cases.push_back(into_columns(attention({2, 2, queries, 12, 16, 16}, {.rule = {.lengths = true}})));
    }
    return cases;
}

std::vector<Case> fused_back_cases() {
    std::vector<Case> cases;
    for (const auto& [size, manner] : fused_sizes()) {
        cases.push_back(attention_backward(size, manner));
    }
    for (const char* gradients : {"q", "k", "v", "kv"}) {
        cases.push_back(attention_backward({3, 2, 9, 33, 8, 5}, {.rule = {.lengths = true}, .rate = 0.3F}, gradients));
        cases.push_back(attention_backward({2, 1, 9, 33, 16, 8}, {.rule = {.lengths = true}, .rate = 0.3F}, gradients));
    }
    cases.push_back(into_columns(attention_backward({2, 2, 9, 12, 16, 16}, {.rule = {.lengths = true}})));
    return cases;
}

std::vector<Case> tensor_core_cases() {
    std::vector<Case> cases;
    for (const auto& [size, manner] : tensor_core_sizes()) {
        cases.push_back(attention(size, manner));
        cases.push_back(attention_backward(size, manner));
    }
    return cases;
}

std::vector<Differentiation> differentiations() {
    std::vector<Differentiation> all;
    for (const Rule& rule : rules()) {
        const Shape shape{3, 2, 4, 5};
        all.push_back({softmax(shape, rule), {softmax_backward(shape)}});
        for (const float rate : {0.0F, 0.4F}) {
            const Heads size{3, 2, 4, 5, 3, 2};
            const Heads shared{2, 4, 3, 4, 3, 2, 2};
            all.push_back({attention(size, {rule, rate}), {attention_backward(size, {rule, rate})}});
            all.push_back({attention(shared, {rule, rate}), {attention_backward(shared, {rule, rate})}});
        }
    }
    // Of one sentence with a table of all distances, the sums of the diagonals are the gradient.
    const Shape square{1, 2, 4, 4};
    all.push_back(
        {softmax_by_distance(square, 3),
         {softmax_backward(square),
          make_case("of scores", {{"grad_scores", square}, {"grad_by_distance", {1, 7, 2}}}, [](const Operands& t) {
              return SumDiagonals{t["grad_scores"], t["grad_by_distance"]};
          })}});
    return all;
}

std::vector<Case> extreme_cases() {
    std::vector<Case> cases;
    for (const double spread : {1e4, 1e30}) {
        cases.push_back(softmax({2, 3, 5, 33}, {.lengths = true}, spread));
    }
    Case apart = softmax({1, 1, 3, 33}, {});
    apart.name += " of 1e4 beside -1e4 and denormals";
    apart.operands[0].values = these({1e4, -1e4, 9999.5, 0x1p-140, 0.0});
    cases.push_back(apart);
    Case largest = softmax({1, 1, 3, 33}, {});
    largest.name += " of the largest numbers";
    largest.operands[0].values = these({3.4e38, -3.4e38, 3.3e38, 0.0});
    cases.push_back(largest);
    return cases;
}

// The length of the shipped model's max_length.
std::vector<Case> longest_cases() {
    const Heads size{1, 2, 512, 512, 32, 32};
    const Manner causal{.rule = {.causal = true}};
    return {softmax({1, 2, 512, 512}, causal.rule).past_a_grid(), softmax_backward({1, 2, 512, 512}).past_a_grid(),
            attention(size, causal).past_a_grid(), attention_backward(size, causal).past_a_grid()};
}

// Of sentences that are too long for their weights to be written. Blocks of queries and tiles end within them.
std::vector<Case> long_cases() {
    const Heads cross{1, 1, 1100, 960, 5, 9};
    const Heads own{1, 1, 1030, 1030, 8, 8};
    const Manner dropped{.rule = {.lengths = true}, .rate = 0.3F};
    const Manner packed{.rule = {.causal = true, .ranges = Ranges::Documents, .size = 400}};
    return {attention(cross, dropped), attention_backward(cross, dropped), attention(own, packed),
            attention_backward(own, packed)};
}

// The same with heads that fill a GPU's registers.
std::vector<Case> long_deep_cases() {
    const Heads size{1, 1, 1030, 1030, 64, 64};
    const Manner manner{.rule = {.causal = true}, .rate = 0.1F};
    return {attention(size, manner), attention_backward(size, manner)};
}

// As many positions as 16 bits count, with few queries or few keys: the oracle has a weight for each pair.
std::vector<Case> position_cases() {
    constexpr std::int64_t kMost = 65535;
    const Heads keys{1, 1, 5, kMost, 8, 8};
    const Heads queries{1, 1, kMost, 5, 8, 8};
    const Manner last{.rule = {.causal = true, .offset = kMost - 5}, .rate = 0.1F};
    return {attention(keys, last), attention_backward(keys, last), attention(queries), attention_backward(queries)};
}

std::vector<Case> size_cases() {
    std::vector<Case> cases;
    for (const Rule& rule :
         {Rule{.lengths = true}, Rule{.ranges = Ranges::Window, .size = 4}, Rule{.ranges = Ranges::Odd}}) {
        const Manner manner{.rule = rule, .rate = 0.3F};
        for (const Heads& size :
             {Heads{1, 2, 9, 9, 9, 9}, Heads{2, 1, 6, 13, 3, 5}, Heads{1, 1, 15, 37, 7, 9}, Heads{1, 2, 81, 19, 41, 3},
              Heads{1, 1, 33, 129, 65, 63}, Heads{1, 4, 13, 21, 24, 16, 2}}) {
            cases.push_back(attention(size, manner));
            cases.push_back(attention_backward(size, manner));
        }
    }
    return cases;
}

}  // namespace

Family family() {
    return {.name = "attention",
            .groups =
                {
                    {"softmax", "masked softmax", softmax_cases},
                    {"distances", "masked softmax with a number for each distance", distances_cases},
                    {"diagonals", "the sums of a table's gradient by distance", diagonals_cases},
                    {"forbidden-keys", "what lies behind a forbidden key does not matter", forbidden_keys_cases},
                    {"special-values", "NaN and infinity in an allowed score show in its row", special_values_cases},
                    {"lost-keys", "keys with scores of minus infinity are passed over; rows that have no other show it",
                     lost_keys_cases},
                    {"softmax-back", "the backward of softmax", softmax_back_cases},
                    {"cache", "appending to a cache", cache_cases},
                    {"masked-keys", "keys and values that no query may look at become 0", masked_keys_cases},
                    {"fused", "attention in one op", fused_cases},
                    {"rows", "attention to keys of several rows, each named in a table", by_rows_cases},
                    {"fused-back", "the backward of attention in one op", fused_back_cases},
                    {"grouped", "attention and its backward where heads share keys and values", grouped_cases},
                    {"extreme", "softmax of scores of 1e4 and more", extreme_cases},
                    {"longest", "softmax and attention over the longest sentence", longest_cases},
                    {.name = "long",
                     .says = "attention of sentences whose weights are never written",
                     .cases = long_cases,
                     .is_slow = true},
                    {.name = "long-deep",
                     .says = "the same with heads of 64 columns",
                     .cases = long_deep_cases,
                     .is_slow = true},
                    {.name = "positions",
                     .says = "attention of 65,535 positions",
                     .cases = position_cases,
                     .is_slow = true},
                    {"sizes", "attention of sizes that no tile divides", size_cases},
                    {.name = "tensor-cores",
                     .says = "attention of every kind of block on tensor cores",
                     .cases = tensor_core_cases,
                     .is_slow = true},
                },
            .differentiations = differentiations,
            .speeds = attention_speeds};
}

}  // namespace headscope::conformance::attention_cases
