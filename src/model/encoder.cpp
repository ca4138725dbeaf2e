#include "model/encoder.h"

#include <utility>

namespace headscope {

Encoder::Encoder(const ModelConfig& config, const Parameters& parameters, std::shared_ptr<Sinusoids> sinusoids,
                 DropoutSites& sites)
    : embedding_(config, parameters, "encoder", std::move(sinusoids), sites) {
    std::vector<std::string> norms;
    for (int layer = 0; layer < config.encoder_layers; ++layer) {
        const std::string prefix = "encoder.layers." + std::to_string(layer);
        norms.push_back(prefix + ".self_attention.norm");
        norms.push_back(prefix + ".feed_forward.norm");
    }
    if (config.norm == NormPlacement::Pre) {
        first_norm_.emplace(config, parameters, norms.front());
    }
    for (int layer = 0; layer < config.encoder_layers; ++layer) {
        const std::string prefix = "encoder.layers." + std::to_string(layer);
        const AttentionSite site{AttentionKind::EncoderSelf, layer};
        const auto norm = static_cast<std::size_t>(layer) * 2;
        // Braces: the members are made in this order, which numbers the dropouts.
        layers_.push_back(Layer{"encoder." + std::to_string(layer),
                                {config, parameters, prefix + ".self_attention", site, sites},
                                {config, parameters, norm_after(config, norms, norm, "encoder"), sites},
                                {config, parameters, prefix + ".feed_forward", sites},
                                {config, parameters, norm_after(config, norms, norm + 1, "encoder"), sites}});
    }
}

Var Encoder::operator()(Context& ctx, const Tensor& ids, const Tensor& lengths, const Tensor& order) const {
    const AttentionMask padding{.key_lengths = lengths};
    set_label(ctx, "encoder", ".embedding");
    const Var embedded = embedding_(ctx, ids, order);
    Stream x = start_stream(ctx, embedded, first_norm_);
    for (const Layer& layer : layers_) {
        set_label(ctx, layer.label, ".self_attention");
        x = layer.after_attention(ctx, x, layer.self_attention.self(ctx, x.normed, padding));
        set_label(ctx, layer.label, ".feed_forward");
        x = layer.after_feed_forward(ctx, x, layer.feed_forward(ctx, x.normed));
    }
    return x.normed;
}

}  // namespace headscope
