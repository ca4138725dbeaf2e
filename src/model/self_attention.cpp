#include "model/self_attention.h"

#include <algorithm>

#include "backend/ops/attention.h"
#include "data/batch.h"
#include "model/rotary.h"
#include "support/check.h"

namespace headscope {

namespace {

// A window that holds all of the keys is none: the same ops run as without it.
std::int64_t window_among(std::int64_t window, std::int64_t keys) {
    return window < keys ? window : 0;
}

WindowedLayers windowed_layers(const ModelConfig& config, AttentionKind self) {
    WindowedLayers windowed;
    const int layers = self == AttentionKind::EncoderSelf ? config.encoder_layers : config.decoder_layers;
    for (int layer = 0; layer < layers; ++layer) {
        const std::int64_t width = window_of(config, self, layer);
        windowed.width = std::max(windowed.width, width);
        windowed.share += width > 0 ? 1.0 : 0.0;
    }
    windowed.share /= layers;
    return windowed;
}

}  // namespace

SelfAttention::SelfAttention(const ModelConfig& config, const Scope& scope, AttentionSite site, DropoutSites& sites)
    : attention_(config, scope, site, sites), window_(window_of(config, site.kind, site.layer)) {
    // The layers of a stack share a cache, which forgets nothing that one of them reads.
    const std::int64_t of_all = config.mixer.window_pattern.empty() ? window_ : 0;
    plan_ = {.heads = config.attention.groups(),
             .d_k = config.attention.d_k,
             .d_v = config.attention.d_v,
             .window = of_all,
             .by_rows = config.attention.score != AttentionScore::Additive &&
                        config.positions.relative.kind == RelativePositions::None};
    scope.pairs_within(
        site.kind == AttentionKind::EncoderSelf ? &MultiplyAdds::source_window : &MultiplyAdds::causal_window,
        windowed_layers(config, site.kind));
}

Var SelfAttention::operator()(Context& ctx, const Var& x, const MixerInputs& inputs) const {
    AttentionMask mask = inputs.mask;
    mask.window = window_among(window_, x.shape()[1]);
    return attention_.self(ctx, x, mask, inputs.by_distance, inputs.turns);
}

Var SelfAttention::append(Context& ctx, const Cache& cache, const Cache::Layer& cached, const Var& x,
                          const MixerInputs& inputs) const {
    HEADSCOPE_CHECK(ctx.observer == nullptr || cache.forgotten == 0, "an observer comes with the first token");
    const MultiHeadAttention::Projected projected = attention_.project_self(ctx, x, inputs.turns);
    const auto keep = [&](const Var& row, const Tensor& room) {
        ctx.backend.run(CacheAppend{.x = row.value(), .position = cache.slot, .cache = room.narrow(0, 0, cache.rows)});
    };
    if (cached.self_both.defined() && projected.both.defined()) {
        keep(projected.both, cached.self_both);
    } else {
        keep(projected.to.keys, cached.self_keys);
        keep(projected.to.values, cached.self_values);
    }
    // An observer gets exactly the cached keys. Otherwise the length is rounded up, so that shapes repeat and recorded
    // commands can be replayed; the position on the device masks the rest.
    const std::int64_t filled = cache.filled() + x.shape()[1];
    const std::int64_t keys = ctx.observer != nullptr ? filled : padded_length(filled);
    const KeysAndValues to{Var(cached.self_keys.narrow(2, 0, keys)), Var(cached.self_values.narrow(2, 0, keys)),
                           cache.key_rows};
    const AttentionMask mask{.causal = true,
                             .query_offset = cache.slot,
                             .key_ranges = cache.key_ranges,
                             .window = window_among(window_, keys)};
    return attention_.attend_and_project(ctx, projected.queries, to, mask, inputs.by_distance);
}

}  // namespace headscope
