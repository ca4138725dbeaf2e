// LSTM and GRU layers as mixers: an order that is read token by token, instead of attention (the recurrent layers of
// section 4's Table 1).
#pragma once

#include <vector>

#include "autograd/recurrence.h"
#include "model/mixer.h"

namespace headscope {

// Without cross-attention the memory of a decoder [batch, states, d_model] is the last states of the encoder's layers,
// in their order, each hidden state before the cells of an LSTM, and nothing else: the bottleneck of Sutskever et al.
// (2014). A decoder's layer starts with those of the encoder's layer of the same number.
class Recurrent final : public Mixer {
public:
    Recurrent(const ModelConfig& config, const Scope& scope, AttentionSite site);

    Var operator()(Context& ctx, const Var& x, const MixerInputs& inputs) const override;
    CachePlan cache_plan() const override;
    void start(Context& ctx, const Cache::Layer& cached, const Memory& memory) const override;
    Var append(Context& ctx, const Cache& cache, const Cache::Layer& cached, const Var& x,
               const MixerInputs& inputs) const override;

private:
    Var project(Context& ctx, const Var& x) const;
    // What the encoder hands over; undefined, so zeros, with cross-attention.
    RecurrentState initial(const Memory& memory) const;

    RecurrentCell cell_;
    std::int64_t columns_;  // of the hidden states of all directions
    int layer_;
    bool receives_ = false;          // its first state from the memory
    Var input_weight_, input_bias_;  // [directions * gates * d, d_model], [directions * gates * d]
    std::vector<RecurrentWeights> directions_;
};

}  // namespace headscope
