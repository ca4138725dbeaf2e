// A convolution along positions in place of self-attention: section 4's second alternative, as in ConvS2S (Gehring et
// al., 2017). Decoders read no later positions.
#pragma once

#include "model/mixer.h"

namespace headscope {

// How far apart the first and the last of a convolution's taps are in this layer: (k - 1) dilation^layer.
std::int64_t convolution_span(const ModelConfig& config, int layer);

class Convolution final : public Mixer {
public:
    Convolution(const ModelConfig& config, const Scope& scope, AttentionSite site);

    // With c the neighbours of each position, k of them side by side or, separable, their weighted sum for each channel
    // (Kaiser, Gomez and Chollet, 2018): (c Wv^T + bv) * sigmoid(c Wg^T + bg) with a gated linear unit (Dauphin et al.,
    // 2017), else f(c Wv^T + bv).
    Var operator()(Context& ctx, const Var& x, const MixerInputs& inputs) const override;
    CachePlan cache_plan() const override;
    Var append(Context& ctx, const Cache& cache, const Cache::Layer& cached, const Var& x,
               const MixerInputs& inputs) const override;

private:
    Var convolve(Context& ctx, const Var& x, Neighbours neighbours) const;

    Activation activation_;
    std::int64_t columns_, taps_, dilation_, widest_;
    bool causal_;
    Var depthwise_;                  // [k, d_model]; undefined unless separable
    Var gate_weight_, gate_bias_;    // as value's; undefined without a gated linear unit
    Var value_weight_, value_bias_;  // [d_model, k d_model], separable [d_model, d_model]; [d_model]
};

}  // namespace headscope
