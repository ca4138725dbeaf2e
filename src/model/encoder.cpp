#include "model/encoder.h"

#include <utility>

namespace headscope {

Encoder::Encoder(const ModelConfig& config, const Scope& scope, const Var& table, std::shared_ptr<Sinusoids> sinusoids,
                 DropoutSites& sites)
    : embedding_(config, scope, table, std::move(sinusoids), sites), residuals_(config) {
    for (int i = 0; i < config.encoder_layers; ++i) {
        const Scope layer = scope.layer(i);
        const Scope attention = layer.in("self_attention");
        const Scope feed_forward = layer.in("feed_forward");
        // The order of construction fixes the order of parameters and the numbers of dropouts.
        MultiHeadAttention self(config, attention, {AttentionKind::EncoderSelf, i}, sites);
        residuals_.add_sublayer(attention, sites);
        layers_.push_back({"encoder." + std::to_string(i), std::move(self), {config, feed_forward, sites}});
        residuals_.add_sublayer(feed_forward, sites);
    }
    residuals_.end(scope);
}

Var Encoder::operator()(Context& ctx, const Tensor& ids, const Tensor& lengths, const Tensor& order) const {
    const AttentionMask padding{.key_lengths = lengths};
    set_label(ctx, "encoder", ".embedding");
    const Var embedded = embedding_(ctx, ids, order);
    Stream x = residuals_.start(ctx, embedded);
    std::size_t sublayer = 0;
    for (const Layer& layer : layers_) {
        set_label(ctx, layer.label, ".self_attention");
        x = residuals_.after(ctx, sublayer++, x, layer.self_attention.self(ctx, x.normed, padding));
        set_label(ctx, layer.label, ".feed_forward");
        x = residuals_.after(ctx, sublayer++, x, layer.feed_forward(ctx, x.normed));
    }
    return x.normed;
}

}  // namespace headscope
