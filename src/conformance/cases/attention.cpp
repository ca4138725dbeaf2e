// MaskedSoftmax and its backward, CacheAppend, MaskKeys, Attention.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "conformance/cases/masks.h"

#include "conformance/cases/catalogue.h"

namespace headscope::conformance {

namespace {

Case softmax(const Shape& shape, const Rule& rule, double spread = 2.0) {
    return make_case(fmt::format("{} spread {}{}", shape.to_string(), spread, rule.title()),
                     with_mask({{"scores", shape, normal(spread)}, {"weights", shape}}, rule, shape),
                     [=](const Operands& t) {
                         return MaskedSoftmax{t["scores"], t["weights"], mask_of(t, rule)};
                     })
        .sums(static_cast<double>(shape[3]));
}

Case softmax_backward(const Shape& shape) {
    return make_case(shape.to_string(),
                     {{"weights", shape, uniform(0.0, 1.0)}, {"grad_weights", shape}, {"grad_scores", shape}},
                     [](const Operands& t) {
                         return MaskedSoftmaxBackward{t["weights"], t["grad_weights"], t["grad_scores"],
                                                      t.write("grad_scores")};
                     })
        .sums(static_cast<double>(shape[3]));
}

Case cache_append(const Shape& shape, std::int64_t capacity, std::int64_t position) {
    const Shape cache{shape[0], shape[1], capacity, shape[3]};
    return make_case(
        fmt::format("{} at {} of {}", shape.to_string(), position, capacity),
        {{"x", shape}, {"position", {1}, these({static_cast<double>(position)})}, Operand("cache", cache).exact()},
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
    Shape rows() const { return {batch, heads, queries}; }
    Shape weights() const { return {batch, heads, queries, keys}; }
    float scale() const { return 1.0F / std::sqrt(static_cast<float>(d_k)); }
    double terms() const { return static_cast<double>(std::max(keys, queries) + d_k + d_v); }
};

Case mask_keys(const Heads& size, const Rule& rule) {
    return make_case(
        fmt::format("{} of {}{}", size.k().to_string(), size.queries, rule.title()),
        with_mask({with_unseen_garbage(Operand("x", size.k()), rule, size.queries), Operand("out", size.k()).exact()},
                  rule, size.weights()),
        [=](const Operands& t) {
            return MaskKeys{t["x"], t["out"], mask_of(t, rule), size.queries};
        });
}

struct Manner {
    Rule rule = {};
    float rate = 0.0F;
    Compute compute = Compute::F32;
    std::string title() const {
        return fmt::format("{}{}{}", rule.title(), rate > 0.0F ? fmt::format(" dropout {}", rate) : "",
                           compute == Compute::F32 ? "" : fmt::format(" in {}", name_of(compute)));
    }
    std::vector<Operand> operands(std::vector<Operand> own, const Shape& weights) const {
        return with_dropout(with_mask(std::move(own), rule, weights), weights[0], rate);
    }
    // The error scale of both the fused forward and backward.
    Case measured(Case stated, const Heads& size) const {
        if (compute != Compute::F32) {
            stated.compute = compute;
            stated.operand_roundoff = 0x1p-6;  // three BF16 roundings; a device may also not round operands
        }
        return stated.sums(size.terms());
    }
};

std::string title_of(const Heads& size, const Manner& manner) {
    return fmt::format("{} d_v {}{}", size.q().to_string(), size.v().to_string(), manner.title());
}

// q, k and v, with garbage at keys that no query may see.
std::vector<Operand> heads_of(const Heads& size, const Manner& manner) {
    return {{"q", size.q()},
            with_unseen_garbage(Operand("k", size.k()), manner.rule, size.queries),
            with_unseen_garbage(Operand("v", size.v()), manner.rule, size.queries)};
}

Attention forward_op(const Operands& t, const Heads& size, const Manner& manner) {
    return {.q = t["q"],
            .k = t["k"],
            .v = t["v"],
            .out = t["out"],
            .mask = mask_of(t, manner.rule),
            .scale = size.scale(),
            .dropout = rule(t, manner.rate),
            .compute = manner.compute};
}

Case attention(const Heads& size, const Manner& manner = {}) {
    std::vector<Operand> operands = heads_of(size, manner);
    operands.push_back({"out", size.out()});
    return manner.measured(make_case(title_of(size, manner), manner.operands(operands, size.weights()),
                                     [=](const Operands& t) { return forward_op(t, size, manner); }),
                           size);
}

// The backward after the device's own forward, whose out and log_sums it reads. `gradients`: of "qkv".
Case attention_backward(const Heads& size, const Manner& manner = {}, const std::string& gradients = "qkv") {
    std::vector<Operand> operands = heads_of(size, manner);
    operands.push_back({"grad_out", size.out()});
    operands.push_back({"out", size.out()});
    for (const auto& [letter, shape] : {std::pair{'q', size.q()}, {'k', size.k()}, {'v', size.v()}}) {
        if (gradients.find(letter) != std::string::npos) {
            operands.push_back({fmt::format("grad_{}", letter), shape});
        }
    }
    Case stated;
    stated.op = OpId::AttentionBackward;
    stated.name = title_of(size, manner) + (gradients == "qkv" ? "" : " for " + gradients);
    stated.operands = manner.operands(operands, size.weights());
    const auto backward = [=](const Attention& forward, const Operands& t) {
        AttentionBackward op{.q = forward.q,
                             .k = forward.k,
                             .v = forward.v,
                             .out = forward.out,
                             .grad_out = t["grad_out"],
                             .log_sums = forward.log_sums,
                             .grad_q = t.maybe("grad_q"),
                             .grad_k = t.maybe("grad_k"),
                             .grad_v = t.maybe("grad_v"),
                             .mask = forward.mask,
                             .scale = forward.scale,
                             .dropout = forward.dropout,
                             .compute = forward.compute};
        for (const auto& [name, write] :
             {std::pair{"grad_q", &op.write_q}, {"grad_k", &op.write_k}, {"grad_v", &op.write_v}}) {
            *write = t.accumulated.count(name) == 1 ? Write::Accumulate : Write::Overwrite;
        }
        return op;
    };
    stated.run = [=](Backend& backend, const Operands& t) {
        Attention forward = forward_op(t, size, manner);
        forward.log_sums = backend.empty(size.rows(), backend.real());
        backend.run(forward);
        backend.run(backward(forward, t));
    };
    const Operands stand_ins = stated.stand_ins();
    const AttentionBackward op = backward(forward_op(stand_ins, size, manner), stand_ins);
    stated.take(operands_of(op), stand_ins);
    for (Operand& operand : stated.operands) {
        operand.role = operand.name == "out" ? Role::Out : operand.role;  // by the forward
    }
    return manner.measured(stated, size);
}

// The same into columns of longer rows, at misaligned offsets, however the inputs are laid out.
Case into_columns(Case stated) {
    std::vector<std::string> written;
    for (Operand& operand : stated.operands) {
        if (operand.written()) {
            const Shape& own = operand.shape;
            operand.shape = {own[0], own[1], own[2], own[3] + 3};
            operand.role = Role::InOut;
            written.push_back(operand.name);
        }
    }
    stated.name += " into columns";
    stated.run = [run = stated.run, written](Backend& backend, const Operands& t) {
        Operands columns = t;
        for (const std::string& name : written) {
            columns.tensors[name] = t[name].narrow(3, 1, t[name].dim(3) - 3);
        }
        run(backend, columns);
    };
    return stated;
}

// Each with the rule that it tests.
std::vector<std::pair<Heads, Manner>> fused_sizes() {
    std::vector<std::pair<Heads, Manner>> all;
    for (const Heads& size : {Heads{1, 1, 1, 1, 1, 1},
                              {2, 3, 5, 5, 8, 8},
                              {4, 2, 33, 33, 16, 16},
                              {3, 2, 3, 65, 33, 7},
                              {4, 2, 1, 40, 32, 32}}) {
        for (const Rule& rule : rules()) {
            all.push_back({size, {.rule = rule}});
        }
        all.push_back({size, {.rule = {.lengths = true, .causal = true}, .rate = 0.3F}});
        all.push_back({size, {.rule = {.causal = true, .ranges = Ranges::Documents, .size = 4}, .rate = 0.3F}});
    }
    const std::vector<std::pair<Heads, Manner>> others{
        {{5, 1, 65, 130, 16, 16}, {.rule = {.lengths = true}, .rate = 0.1F}},  // a length within a later tile
        {{1, 1, 130, 65, 64, 5}, {.rule = {.causal = true}}},
        {{1, 1, 65, 130, 5, 64}, {.rule = {.causal = true, .offset = 40}, .rate = 0.5F}},
        {{1, 1, 66, 130, 64, 64}, {.rule = {.causal = true, .offset = 64}}},
        {{3, 1, 33, 65, 65, 128}, {.rule = {.lengths = true}}},
        {{2, 1, 130, 130, 16, 16},
         {.rule = {.ranges = Ranges::Documents, .size = 20}, .rate = 0.3F}},  // some tiles see none
        {{2, 1, 130, 65, 64, 5}, {.rule = {.causal = true, .ranges = Ranges::Window, .size = 9}}},
        {{2, 1, 65, 130, 5, 64}, {.rule = {.ranges = Ranges::Window, .size = 3}, .rate = 0.5F}},
        {{2, 1, 70, 130, 64, 64}, {.rule = {.ranges = Ranges::Odd}}},
        {{2, 1, 33, 40, 200, 130}, {.rule = {.ranges = Ranges::Documents, .size = 7}}},
        {{2, 1, 9, 17, 300, 257}, {.rule = {.ranges = Ranges::Odd}}},
        {{1, 2, 1024, 1024, 8, 8}, {.rule = {.causal = true, .ranges = Ranges::Documents, .size = 130}}},
        {{2, 1, 33, 65, 16, 16}, {.rule = {.ranges = Ranges::Window, .size = 5}, .compute = Compute::BF16}},
        {{1, 1, 65, 33, 128, 1}, {.rate = 0.3F}},
        {{1, 1, 33, 33, 200, 130}, {.rule = {.causal = true, .offset = 1}}},
        {{1, 1, 9, 17, 256, 256}, {.rate = 0.3F}},
        {{1, 1, 6, 5, 300, 257}, {.rule = {.causal = true}, .rate = 0.3F}},  // deeper than kernels are made for
        {{1, 2, 3, 257, 64, 64}, {}},
        {{1, 2, 5, 9, 32, 32}, {.rule = {.lengths = true}, .rate = 0.1F}},  // the paper's models and ours
        {{1, 2, 5, 9, 64, 64}, {.rule = {.lengths = true}, .rate = 0.1F}},
        {{1, 8, 128, 128, 64, 64}, {}},                         // weights larger than small bindings
        {{3, 1, 1, 300, 64, 65}, {.rule = {.lengths = true}}},  // decoding
        {{1, 2, 1, 130, 128, 16}, {.rule = {.causal = true, .offset = 128}, .rate = 0.3F}},
        {{1, 1, 3, 33, 256, 5}, {.rule = {.causal = true, .offset = 20}}},
        {{4, 1, 33, 65, 16, 16}, {.rule = {.lengths = true}, .compute = Compute::BF16}},
        {{1, 2, 1, 65, 64, 64}, {.compute = Compute::BF16}},
        {{1, 1, 5, 9000, 8, 8}, {.rate = 0.1F}},  // llvmpipe leaves kernels whose loops ran 65,535 times
        {{1, 1, 9000, 5, 8, 8}, {.rate = 0.1F}},
        {{1, 1, 1, 9000, 8, 8}, {.rate = 0.1F}},
        {{2, 2, 3, 0, 4, 5}, {}},  // no keys: 0
        {{2, 2, 6, 0, 4, 5}, {}},
        {{2, 0, 3, 4, 4, 5}, {}},
        {{2, 2, 0, 4, 4, 5}, {}},
    };
    all.insert(all.end(), others.begin(), others.end());
    return all;
}

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
    cases.push_back(softmax({1, 1, 5, 2600}, {.ranges = Ranges::Documents, .size = 1301}));  // longer than is kept
    cases.push_back(softmax({1, 1, 5, 2600}, {.ranges = Ranges::Odd}));
    cases.push_back(softmax({4, 8, 3000, 2}, {.causal = true}).past_a_grid());
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
    }
    cases.push_back(into_columns(attention_backward({2, 2, 9, 12, 16, 16}, {.rule = {.lengths = true}})));
    return cases;
}

std::vector<Differentiation> differentiations() {
    std::vector<Differentiation> all;
    for (const Rule& rule : rules()) {
        const Shape shape{3, 2, 4, 5};
        all.push_back({softmax(shape, rule), {softmax_backward(shape)}});
        for (const float rate : {0.0F, 0.4F}) {
            const Heads size{3, 2, 4, 5, 3, 2};
            all.push_back({attention(size, {rule, rate}), {attention_backward(size, {rule, rate})}});
        }
    }
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

std::vector<Case> size_cases() {
    std::vector<Case> cases;
    for (const Rule& rule :
         {Rule{.lengths = true}, Rule{.ranges = Ranges::Window, .size = 4}, Rule{.ranges = Ranges::Odd}}) {
        const Manner manner{.rule = rule, .rate = 0.3F};
        for (const Heads& size : {Heads{1, 2, 9, 9, 9, 9}, Heads{2, 1, 6, 13, 3, 5}, Heads{1, 1, 15, 37, 7, 9},
                                  Heads{1, 2, 81, 19, 41, 3}, Heads{1, 1, 33, 129, 65, 63}}) {
            cases.push_back(attention(size, manner));
            cases.push_back(attention_backward(size, manner));
        }
    }
    return cases;
}

// A beam's keys of one step, appended to the middle of its cache.
Case append_of_a_step(const Workload& work) {
    constexpr std::int64_t kBeam = 4;
    const Shape x{kBeam * work.sentences, work.heads, 1, work.d_k()};
    Case stated = cache_append(x, work.length, work.length / 2)
                      .named(fmt::format("{}x{}x1x{} into {}", x[0], x[1], x[3], work.length));
    // It writes one position of the cache and reads none.
    stated.operands.back().share = 0.5 / static_cast<double>(work.length);
    return stated;
}

std::vector<Case> speeds(const Workload& work) {
    const Shape weights{work.sentences, work.heads, work.length, work.length};
    const Heads size{work.sentences, work.heads, work.length, work.length, work.d_k(), work.d_k()};
    const Manner manner{.compute = work.compute};
    const std::string shape = fmt::format("{}x{}x{}x{}", weights[0], weights[1], weights[2], weights[3]);
    Case whole = attention(size, manner).named(fmt::format("{}x{}", shape, size.d_k));
    Case back = attention_backward(size, manner).named(whole.name);
    const double product = 2.0 * static_cast<double>(weights.elements()) * static_cast<double>(size.d_k);
    whole.arithmetic = 2 * product;
    back.arithmetic = 7 * product;  // its own forward included
    // A block of 512 tokens: one document, or eight that do not see each other.
    const auto of_block = [&](std::int64_t documents) {
        const Heads block{1, work.heads, 512, 512, work.d_k(), work.d_k()};
        Rule rule{.causal = true};
        if (documents > 1) {
            rule.ranges = Ranges::Documents;
            rule.size = block.queries / documents;
        }
        Case stated = attention(block, {.rule = rule, .compute = work.compute});
        const auto pairs = static_cast<double>(block.heads * block.queries * block.keys / (2 * documents));
        stated.arithmetic = 4.0 * pairs * static_cast<double>(block.d_k);
        return stated.named(fmt::format("1x{}x512x512x{} causal, {} document{}", block.heads, block.d_k, documents,
                                        documents == 1 ? "" : "s"));
    };
    const Case masked =
        mask_keys(size, {}).named(fmt::format("{}x{}x{}x{}", size.batch, size.heads, size.keys, size.d_k));
    return {softmax(weights, {}).named(shape),
            softmax_backward(weights).named(shape),
            whole,
            back,
            append_of_a_step(work),
            masked,
            of_block(1),
            of_block(8)};
}

}  // namespace

Family attention_family() {
    return {.name = "attention",
            .groups =
                {
                    {"softmax", "masked softmax", softmax_cases},
                    {"forbidden-keys", "what lies behind a forbidden key does not matter", forbidden_keys_cases},
                    {"special-values", "NaN and infinity in an allowed score show in its row", special_values_cases},
                    {"lost-keys", "keys with scores of minus infinity are passed over; rows that have no other show it",
                     lost_keys_cases},
                    {"softmax-back", "the backward of softmax", softmax_back_cases},
                    {"cache", "appending to a cache", cache_cases},
                    {"masked-keys", "keys and values that no query may look at become 0", masked_keys_cases},
                    {"fused", "attention in one op", fused_cases},
                    {"fused-back", "the backward of attention in one op", fused_back_cases},
                    {"extreme", "softmax of scores of 1e4 and more", extreme_cases},
                    {"longest", "softmax and attention over the longest sentence", longest_cases},
                    {"sizes", "attention of sizes that no tile divides", size_cases},
                },
            .differentiations = differentiations,
            .speeds = speeds};
}

}  // namespace headscope::conformance
