// Cases of Attention and its backward.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "conformance/cases/masks.h"

namespace headscope::conformance {

struct Heads {
    std::int64_t batch, heads, queries, keys, d_k, d_v;
    std::int64_t of_group = 1;  // heads that share keys and values
    Shape q() const { return {batch, heads, queries, d_k}; }
    Shape k() const { return {batch, heads / of_group, keys, d_k}; }
    Shape v() const { return {batch, heads / of_group, keys, d_v}; }
    Shape out() const { return {batch, heads, queries, d_v}; }
    Shape rows() const { return {batch, heads, queries}; }
    Shape weights() const { return {batch, heads, queries, keys}; }
    float scale() const { return 1.0F / std::sqrt(static_cast<float>(d_k)); }
    double terms() const { return static_cast<double>(std::max(keys, queries * of_group) + d_k + d_v); }
};

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
            // Of three roundings; a device may also not round operands.
            stated.operand_roundoff = compute == Compute::TF32 ? 0x1p-9 : 0x1p-6;
        }
        return stated.sums(size.terms());
    }
};

Case attention(const Heads& size, const Manner& manner = {});
// The forward of keys and values in `rows` rows, of which a table names one for each key of each sentence.
Case attention_by_rows(const Heads& size, std::int64_t rows, const Manner& manner = {});
// The backward after the device's own forward, whose out and log_sums it reads. `gradients`: of "qkv".
Case attention_backward(const Heads& size, const Manner& manner = {}, const std::string& gradients = "qkv");
// The same into columns of longer rows, at misaligned offsets, however the inputs are laid out.
Case into_columns(Case stated);

// Sizes, each with the rule that it tests.
std::vector<std::pair<Heads, Manner>> fused_sizes();
// Cases of attention_by_rows().
std::vector<Case> by_rows_cases();
// Cases of heads that share keys, forward and backward: some of the heads or all of them.
std::vector<Case> grouped_cases();
// Sizes of every kind of block on tensor cores.
std::vector<std::pair<Heads, Manner>> tensor_core_sizes();

}  // namespace headscope::conformance
