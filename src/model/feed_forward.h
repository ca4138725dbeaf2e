// 3.3: the same two-layer network at every position. Equation 2, or with a gate.
#pragma once

#include <string>

#include "model/residual.h"

namespace headscope {

// Its widths, "512 -> 2,048 -> 512" with arrows.
std::string feed_forward_sizes(const ModelConfig& config);

class FeedForward {
public:
    FeedForward(const ModelConfig& config, const Scope& scope, DropoutSites& sites);
    // Dropout(f(x W1^T + b1)) W2^T + b2, with a gate Dropout(f(x Wg^T + bg) * (x W1^T + b1)) W2^T + b2: x and the
    // result [batch, length, d_model].
    Var operator()(Context& ctx, const Var& x) const;

private:
    Var gated(Context& ctx, const Var& x, const DropoutRule& rule) const;

    Activation activation_;
    std::uint32_t site_;
    // Gate and biases may be undefined.
    Var gate_weight_, gate_bias_;    // [d_ff, d_model], [d_ff]
    Var inner_weight_, inner_bias_;  // [d_ff, d_model], [d_ff]
    Var outer_weight_, outer_bias_;  // [d_model, d_ff], [d_model]
};

}  // namespace headscope
