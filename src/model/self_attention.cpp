#include "model/self_attention.h"

#include "data/batch.h"

namespace headscope {

SelfAttention::SelfAttention(const ModelConfig& config, const Scope& scope, AttentionSite site, DropoutSites& sites)
    : attention_(config, scope, site, sites), plan_{.heads = config.heads, .d_k = config.d_k, .d_v = config.d_v} {}

Var SelfAttention::operator()(Context& ctx, const Var& x, const MixerInputs& inputs) const {
    return attention_.self(ctx, x, inputs.mask, inputs.by_distance);
}

Var SelfAttention::append(Context& ctx, const Cache& cache, const Cache::Layer& cached, const Var& x,
                          const Var& by_distance) const {
    const MultiHeadAttention::Projected projected = attention_.project_self(ctx, x);
    const auto keep = [&](const Var& row, const Tensor& room) {
        ctx.backend.run(CacheAppend{.x = row.value(), .position = cache.position, .cache = room});
    };
    if (cached.self_both.defined()) {
        keep(projected.both, cached.self_both);
    } else {
        keep(projected.to.keys, cached.self_keys);
        keep(projected.to.values, cached.self_values);
    }
    // An observer gets exactly the cached keys. Otherwise the length is rounded up, so that shapes repeat and recorded
    // commands can be replayed; the position on the device masks the rest.
    const std::int64_t filled = cache.length + x.shape()[1];
    const std::int64_t keys = ctx.observer != nullptr ? filled : padded_length(filled);
    const KeysAndValues to{Var(cached.self_keys.narrow(2, 0, keys)), Var(cached.self_values.narrow(2, 0, keys))};
    return attention_.attend_and_project(ctx, projected.queries, to, {.causal = true, .query_offset = cache.position},
                                         by_distance);
}

}  // namespace headscope
