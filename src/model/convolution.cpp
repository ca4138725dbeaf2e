#include "model/convolution.h"

#include <fmt/format.h>

#include "backend/ops/elementwise.h"

namespace headscope {

namespace {

std::int64_t dilation_of(const ModelConfig& config, int layer) {
    std::int64_t dilation = 1;
    for (int i = 0; i < layer && dilation <= config.max_length; ++i) {
        dilation *= config.mixer.convolution.dilation;
    }
    return dilation;
}

}  // namespace

std::int64_t convolution_span(const ModelConfig& config, int layer) {
    return (config.mixer.convolution.kernel - 1) * dilation_of(config, layer);
}

Convolution::Convolution(const ModelConfig& config, const Scope& scope, AttentionSite site)
    : activation_(config.mixer.convolution.glu ? Activation::None : config.feed_forward.activation),
      columns_(config.d_model),
      taps_(config.mixer.convolution.kernel),
      dilation_(dilation_of(config, site.layer)),
      widest_(convolution_span(config, config.decoder_layers - 1)),
      causal_(site.kind == AttentionKind::DecoderSelf) {
    const bool separable = config.mixer.convolution.form == ConvolutionForm::Separable;
    scope.block(
        {.kind = BlockKind::Convolution,
         .title = causal_ ? "Masked Convolution" : "Convolution",
         .detail = fmt::format("{}{}{}{}", config.mixer.convolution.kernel, separable ? " of each channel" : " wide",
                               dilation_ > 1 ? fmt::format(", {} apart", dilation_) : "",
                               config.mixer.convolution.glu ? ", gated" : "")});
    if (separable) {
        depthwise_ = scope.values("depthwise.weight", {taps_, columns_}, Initial::Taps);
        scope.multiply_adds(causal_ ? &MultiplyAdds::target_token : &MultiplyAdds::source_token, taps_ * columns_);
    }
    const std::int64_t read = separable ? columns_ : taps_ * columns_;
    if (config.mixer.convolution.glu) {
        gate_weight_ = scope.weight({{"gate", columns_}}, read);
        gate_bias_ = scope.bias({{"gate", columns_}});
    }
    value_weight_ = scope.weight({{"value", columns_}}, read);
    value_bias_ = scope.bias({{"value", columns_}});
}

Var Convolution::convolve(Context& ctx, const Var& x, Neighbours neighbours) const {
    neighbours.taps = taps_;
    neighbours.step = dilation_;
    const Var seen = depthwise_.defined() ? depthwise(ctx, x, depthwise_, neighbours) : unfold(ctx, x, neighbours);
    const Var value = linear_activation(ctx, seen, value_weight_, value_bias_, activation_);
    return gate_weight_.defined()
               ? multiply(ctx, linear_activation(ctx, seen, gate_weight_, gate_bias_, Activation::Sigmoid), value)
               : copied(ctx, value);  // ReLU's backward reads its result, which the residual connection spends
}

Var Convolution::operator()(Context& ctx, const Var& x, const MixerInputs& inputs) const {
    const std::int64_t before = (causal_ ? taps_ - 1 : (taps_ - 1) / 2) * dilation_;
    return convolve(ctx, x,
                    {.first = -before,
                     .positions = x.shape()[1],
                     .lengths = inputs.mask.key_lengths,
                     .ranges = inputs.mask.key_ranges});
}

CachePlan Convolution::cache_plan() const {
    return widest_ == 0 ? CachePlan{} : CachePlan{.states = {{.shape = {1, widest_, columns_}}}};
}

// The state holds the last inputs, the newest at its end: as many as the widest layer reads.
Var Convolution::append(Context& ctx, const Cache& cache, const Cache::Layer& cached, const Var& x,
                        const MixerInputs& /*inputs*/) const {
    const std::int64_t tokens = x.shape()[1];
    if (widest_ == 0) {
        return convolve(ctx, x, {.positions = tokens});
    }
    const Tensor& state = cached.states.front();
    const Tensor all = ctx.backend.empty({cache.rows, widest_ + tokens, columns_}, x.value().dtype);
    ctx.backend.run(Copy{.x = state, .out = all.narrow(1, 0, widest_)});
    ctx.backend.run(Copy{.x = x.value(), .out = all.narrow(1, widest_, tokens)});
    ctx.backend.run(Copy{.x = all.narrow(1, tokens, widest_), .out = state});
    return convolve(ctx, Var(all), {.first = widest_ - (taps_ - 1) * dilation_, .positions = tokens});
}

}  // namespace headscope
