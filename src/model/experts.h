// A mixture of experts in the place of the feed-forward (3.3): a router chooses a few of them for each token. Shazeer
// et al., "Outrageously Large Neural Networks: The Sparsely-Gated Mixture-of-Experts Layer", 2017, which the paper
// compares itself with in Table 2. Capacity and loss as in GShard (Lepikhin et al., 2021) and the Switch Transformer
// (Fedus et al., 2022).
#pragma once

#include "model/residual.h"

namespace headscope {

class Experts {
public:
    Experts(const ModelConfig& config, const Scope& scope, DropoutSites& sites);
    // The sum over a token's experts of the router's weight times the expert's feed-forward; 0 for padding, from
    // `lengths` I32 [batch] on, if that is given. x and the result [batch, length, d_model]. In training passes, those
    // with Regularisation::step, tokens beyond an expert's capacity are dropped (Switch Transformer).
    Var operator()(Context& ctx, const Var& x, const Tensor& lengths) const;

private:
    std::int64_t slots_of_each(const Context& ctx, std::int64_t tokens) const;
    Var inner(Context& ctx, const Var& x, const DropoutRule& rule) const;

    std::int64_t count_;
    std::int64_t of_a_token_;
    double capacity_;
    Activation activation_;
    std::uint32_t site_;
    Var router_;  // [experts, d_model], F32
    // Of all experts one below the other. Gate and biases may be undefined.
    Var gate_weight_, gate_bias_;    // [experts * d_ff, d_model], [experts * d_ff]
    Var inner_weight_, inner_bias_;  // [experts * d_ff, d_model], [experts * d_ff]
    Var outer_weight_, outer_bias_;  // [experts * d_model, d_ff], [experts * d_model]
};

}  // namespace headscope
