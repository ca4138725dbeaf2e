// Attention in the shapes of a Transformer, to be timed.
#include <fmt/format.h>

#include <algorithm>

#include "conformance/cases/attention_ops.h"

namespace headscope::conformance {

namespace {

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

// Of a query and a key in self-attention.
double pairs_within(std::int64_t length, const Rule& rule) {
    double pairs = 0.0;
    for (std::int64_t query = 0; query < length; ++query) {
        const std::int64_t begin = std::max<std::int64_t>(query - rule.window + 1, 0);
        pairs += static_cast<double>((rule.causal ? query + 1 : std::min(query + rule.window, length)) - begin);
    }
    return pairs;
}

}  // namespace

std::vector<Case> attention_speeds(const Workload& work) {
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
    std::vector<Case> all{softmax(weights, {}).named(shape),
                          softmax_backward(weights).named(shape),
                          softmax_by_distance(weights, 128).named(shape + " by distance"),
                          sum_diagonals(weights).named(shape),
                          whole,
                          back,
                          append_of_a_step(work),
                          masked,
                          of_block(1),
                          of_block(8)};
    for (const bool causal : {false, true}) {
        const Manner near{.rule = {.causal = causal, .window = work.window}, .compute = work.compute};
        const std::string name = fmt::format("{}{} within {}", whole.name, causal ? " causal" : "", work.window);
        const double share = pairs_within(work.length, near.rule) / static_cast<double>(work.length * work.length);
        for (Case stated : {attention(size, near), attention_backward(size, near)}) {
            stated.arithmetic = share * (stated.op == OpId::Attention ? whole : back).arithmetic;
            if (work.window > 0) {
                all.push_back(stated.named(name));
            }
        }
    }
    return all;
}

}  // namespace headscope::conformance
