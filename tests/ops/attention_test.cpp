// MaskedSoftmax and its way back, CacheAppend, Attention.
#include <fmt/format.h>

#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "gradients.h"
#include "harness.h"

using namespace headscope;
using namespace headscope::conformance;

namespace {

struct Rule {
    bool lengths = false;
    bool causal = false;
    std::int64_t offset = -1;  // none given
    std::string title() const {
        return fmt::format("{}{}{}", lengths ? " lengths" : "", causal ? " causal" : "",
                           offset < 0 ? "" : fmt::format(" offset {}", offset));
    }
};

const std::vector<Rule>& rules() {
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
std::vector<Operand> with_mask(std::vector<Operand> operands, const Rule& rule, std::int64_t batch) {
    if (rule.lengths) {
        operands.push_back(indices("key_lengths", {batch}, these({1, 0, 1000, 3})));
    }
    if (rule.offset >= 0) {
        operands.push_back(indices("query_offset", {1}, these({static_cast<double>(rule.offset)})));
    }
    return operands;
}

AttentionMask mask_of(const Operands& t, const Rule& rule) {
    return {.key_lengths = t.maybe("key_lengths"), .causal = rule.causal, .query_offset = t.maybe("query_offset")};
}

Case softmax(const Shape& shape, const Rule& rule, double spread = 2.0) {
    return make_case(fmt::format("{} spread {}{}", shape.to_string(), spread, rule.title()),
                     with_mask({in("scores", shape).filled(normal(spread)), out("weights", shape)}, rule, shape[0]),
                     [=](const Operands& t) {
                         return MaskedSoftmax{t["scores"], t["weights"], mask_of(t, rule)};
                     })
        .sums(static_cast<double>(shape[3]))
        .may_be("weights", "scores");
}

Case softmax_backward(const Shape& shape) {
    return make_case(shape.to_string(),
                     {in("weights", shape).filled(uniform(0.0, 1.0)), in("grad_weights", shape),
                      gradient("grad_scores", shape)},
                     [](const Operands& t) {
                         return MaskedSoftmaxBackward{t["weights"], t["grad_weights"], t["grad_scores"],
                                                      t.write("grad_scores")};
                     })
        .sums(static_cast<double>(shape[3]))
        .may_be("grad_scores", "grad_weights");
}

Case cache_append(const Shape& shape, std::int64_t capacity, std::int64_t position) {
    const Shape cache{shape[0], shape[1], capacity, shape[3]};
    return make_case(fmt::format("{} at {} of {}", shape.to_string(), position, capacity),
                     {in("x", shape).strided(), indices("position", {1}, these({static_cast<double>(position)})),
                      in_out("cache", cache).strided().exact()},
                     [](const Operands& t) {
                         return CacheAppend{t["x"], t["position"], t["cache"]};
                     });
}

struct Heads {
    std::int64_t batch, heads, queries, keys, d_k, d_v;
    Shape q() const { return {batch, heads, queries, d_k}; }
    Shape k() const { return {batch, heads, keys, d_k}; }
    Shape v() const { return {batch, heads, keys, d_v}; }
    Shape out() const { return {batch, heads, queries, d_v}; }
    Shape weights() const { return {batch, heads, queries, keys}; }
    float scale() const { return 1.0F / std::sqrt(static_cast<float>(d_k)); }
};

Case attention(const Heads& size, const Rule& rule) {
    return make_case(fmt::format("{} d_v {}{}", size.q().to_string(), size.v().to_string(), rule.title()),
                     with_mask({in("q", size.q()).strided(), in("k", size.k()).strided(), in("v", size.v()).strided(),
                                out("out", size.out()).strided()},
                               rule, size.batch),
                     [=](const Operands& t) {
                         return Attention{.q = t["q"],
                                          .k = t["k"],
                                          .v = t["v"],
                                          .out = t["out"],
                                          .mask = mask_of(t, rule),
                                          .scale = size.scale()};
                     })
        .sums(static_cast<double>(size.keys + size.d_k));
}

Case product(const char* a, const Shape& shape_a, bool transpose_a, const char* b, const Shape& shape_b,
             bool transpose_b, const char* to, const Shape& shape_out, float alpha = 1.0F) {
    return make_case(to, {in(a, shape_a), in(b, shape_b), gradient(to, shape_out)}, [=](const Operands& t) {
        return Matmul{
            .a = t[a], .b = t[b], .out = t[to], .transpose_a = transpose_a, .transpose_b = transpose_b, .alpha = alpha};
    });
}

// Equation 1 backwards, from the weights that the fused op never shows.
Differentiation differentiation(const Heads& size, const Rule& rule) {
    Case scores = product("q", size.q(), false, "k", size.k(), true, "scores", size.weights(), size.scale());
    return {attention(size, rule),
            {scores, softmax(size.weights(), rule),
             product("grad_out", size.out(), false, "v", size.v(), true, "grad_weights", size.weights()),
             product("weights", size.weights(), true, "grad_out", size.out(), false, "grad_v", size.v()),
             softmax_backward(size.weights()),
             product("grad_scores", size.weights(), false, "k", size.k(), false, "grad_q", size.q(), size.scale()),
             product("grad_scores", size.weights(), true, "q", size.q(), false, "grad_k", size.k(), size.scale())}};
}

std::vector<Shape> shapes() {
    return {{1, 1, 1, 1}, {2, 3, 5, 7}, {4, 2, 33, 33}, {3, 1, 3, 257}, {4, 2, 1, 9}, {2, 0, 3, 4}, {2, 2, 3, 0}};
}

}  // namespace

TEST_CASE("masked softmax agrees with the oracle", "[attention]") {
    std::vector<Case> cases;
    for (const Shape& shape : shapes()) {
        for (const Rule& rule : rules()) {
            cases.push_back(softmax(shape, rule));
        }
    }
    cases.push_back(softmax({2, 3, 5, 33}, {.lengths = true}, 30.0));
    cases.push_back(softmax({4, 8, 3000, 2}, {.causal = true}));  // more rows than one dimension of a grid has groups
    check_on_every_device(cases);
}

TEST_CASE("what lies behind a forbidden key does not matter", "[attention]") {
    // NaN, infinities and the largest numbers at keys 1.. of a sentence with one key and in the causal future.
    constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    Case lengths = softmax({1, 2, 3, 4}, {.lengths = true});
    lengths.name += " garbage";
    lengths.operands[0].values = these({0.5, kNan, kInfinity, 3e38});
    Case causal = softmax({1, 2, 3, 3}, {.causal = true});
    causal.name += " garbage";
    causal.operands[0].values = these({0.5, kNan, kInfinity, 1.0, -0.5, kNan, 0.1, 0.2, 0.3});
    check_on_every_device({lengths, causal});
}

TEST_CASE("NaN and infinity in an allowed score show in its row", "[attention]") {
    constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    std::vector<Case> cases;
    for (const double value : {kNan, kInfinity, -kInfinity}) {
        cases.push_back(softmax({1, 2, 3, 33}, {}).holding(value, "scores", 40));
        cases.push_back(softmax_backward({1, 2, 3, 33}).holding(value, "grad_weights", 40));
    }
    cases.push_back(attention({1, 2, 3, 9, 8, 8}, {.causal = true}).holding(kNan, "q", 9));
    cases.push_back(attention({1, 2, 3, 9, 8, 8}, {}).holding(kNan, "v", 9));
    check_on_every_device(cases);
}

TEST_CASE("the way back of softmax agrees with the oracle", "[attention]") {
    std::vector<Case> cases;
    for (const Shape& shape : shapes()) {
        cases.push_back(softmax_backward(shape));
    }
    cases.push_back(softmax_backward({2, 8, 64, 64}));
    check_on_every_device(cases);
}

TEST_CASE("appending to a cache agrees with the oracle", "[attention]") {
    std::vector<Case> cases;
    for (const Shape& shape : {Shape{1, 1, 1, 1}, Shape{2, 3, 1, 33}, Shape{2, 3, 5, 8}, Shape{3, 1, 4, 257}}) {
        for (const std::int64_t position : {0, 3, 5, 7, 8, 100}) {  // the last rows lie past a capacity of 8
            cases.push_back(cache_append(shape, 8, position));
        }
    }
    cases.push_back(cache_append({2, 3, 0, 8}, 8, 1));
    cases.push_back(cache_append({2, 3, 2, 8}, 0, 0));
    cases.push_back(cache_append({2, 3, 9, 4}, 4, 0));
    check_on_every_device(cases);
}

TEST_CASE("attention agrees with its composition in the oracle", "[attention]") {
    std::vector<Case> cases;
    for (const Heads& size : {Heads{1, 1, 1, 1, 1, 1},
                              {2, 3, 5, 5, 8, 8},
                              {4, 2, 33, 33, 16, 16},
                              {3, 2, 3, 65, 33, 7},
                              {4, 8, 1, 40, 32, 32}}) {
        for (const Rule& rule : rules()) {
            cases.push_back(attention(size, rule));
        }
    }
    cases.push_back(attention({1, 2, 3, 257, 64, 64}, {}));
    cases.push_back(attention({2, 2, 3, 0, 4, 5}, {}));  // no key at all: 0
    cases.push_back(attention({2, 0, 3, 4, 4, 5}, {}));
    cases.push_back(attention({2, 2, 0, 4, 4, 5}, {}));
    check_on_every_device(cases);
}

TEST_CASE("gradients of attention equal central differences", "[attention][gradients]") {
    std::vector<Differentiation> all;
    for (const Rule& rule : rules()) {
        const Shape shape{3, 2, 4, 5};
        all.push_back({softmax(shape, rule), {softmax_backward(shape)}});
        all.push_back(differentiation({3, 2, 4, 5, 3, 2}, rule));
    }
    check_gradients(all);
}
