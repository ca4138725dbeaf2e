// 3.2.2: multi-head attention as a sub-layer with its four projections.
#pragma once

#include <cstdint>
#include <string>

#include "autograd/rotary.h"
#include "model/residual.h"

namespace headscope {

// Keys and values of all groups of heads.
struct KeysAndValues {
    Var keys;          // [batch, groups, length, d_k]
    Var values;        // [batch, groups, length, d_v]
    Tensor rows = {};  // Attention::key_rows; may be undefined
};

class MultiHeadAttention {
public:
    MultiHeadAttention(const ModelConfig& config, const Scope& scope, AttentionSite site, DropoutSites& sites);

    // Queries, keys and values of x [batch, length, d_model] by one packed product; result [batch, length, d_model].
    // `by_distance`: see RelativeTable; it and `turns` may be undefined.
    Var self(Context& ctx, const Var& x, const AttentionMask& mask, const Var& by_distance, const Turns& turns) const;
    // Queries of x [batch, queries, d_model], keys and values of memory [batch, keys, d_model].
    Var cross(Context& ctx, const Var& x, const Var& memory, const AttentionMask& mask) const;

    // The parts, for decoding with a cache.
    struct Projected {
        Var queries;  // [batch, heads, length, d_k]
        KeysAndValues to;
        Var both;  // [batch, 2 groups, length, d_k], keys first; undefined unless d_k = d_v and keys are not normalised
    };
    Projected project_self(Context& ctx, const Var& x, const Turns& turns) const;
    Var project_queries(Context& ctx, const Var& x) const;
    // Keys and values of a cross-attention, packed [batch, length, groups * (d_k + d_v)], and the same split into
    // groups.
    Var project_memory(Context& ctx, const Var& memory) const;
    KeysAndValues split_memory(const Var& packed) const;
    Var attend_and_project(Context& ctx, const Var& queries, const KeysAndValues& to, const AttentionMask& mask,
                           const Var& by_distance = {}) const;

private:
    Var project(Context& ctx, const Var& x, const Var& weight, const Var& bias) const;
    Var heads_at_site(Context& ctx, const Var& attended) const;

    AttentionSite site_;
    // Of self-attention, undefined without `attention.query_key_norm`: gains of the norms of queries and keys.
    struct QueryKeyGains {
        Var queries, keys;
        float epsilon = 0.0F;
    };
    // Queries or keys [batch, length, columns], `heads` of them, normalised and turned: [batch, heads, length, d_k].
    Var normed(Context& ctx, const Var& x, const Var& gain, std::int64_t heads, const Turns& turns) const;

    float scale_;
    std::int64_t heads_, groups_;
    std::int64_t query_columns_, key_columns_, value_columns_;  // of all heads or groups together
    // Self: queries_* are [q; k; v] in one. Cross: q alone, and [k; v] in memory_*. Biases may be undefined.
    Var queries_weight_, queries_bias_;
    Var memory_weight_, memory_bias_;
    Var output_weight_, output_bias_;
    Var score_gain_;  // [heads, d_k] of additive scores, or undefined
    QueryKeyGains norms_;
    std::uint32_t dropout_site_;
};

}  // namespace headscope
