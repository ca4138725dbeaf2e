#include "model/stack.h"

#include <utility>

#include "data/batch.h"
#include "support/check.h"

namespace headscope {

namespace {

// A copy in which the rows of a head are contiguous, because every step reads all of them.
Tensor head_by_head(Backend& backend, const Tensor& x) {
    Tensor copy = backend.empty(x.shape, x.dtype);
    backend.run(Copy{.x = x, .out = copy});
    return copy;
}

}  // namespace

Stack::Stack(const ModelConfig& config, const Scope& scope, const StackPlan& plan, const Var& table,
             std::shared_ptr<Sinusoids> sinusoids, DropoutSites& sites)
    : config_(config),
      name_(scope.name()),
      embedding_(config, scope, table, std::move(sinusoids), sites),
      residuals_(config) {
    if (config.relative_positions == RelativePositions::Buckets) {
        relative_.emplace(config, scope, plan.self == AttentionKind::EncoderSelf);
    }
    for (int i = 0; i < plan.layers; ++i) {
        const Scope layer = scope.layer(i);
        // The order of construction fixes the order of parameters and the numbers of dropouts.
        const auto attention = [&](const char* part, AttentionKind kind) {
            const Scope inner = layer.in(part);
            MultiHeadAttention made(config, inner, {kind, i}, sites);
            residuals_.add_sublayer(inner, sites);
            return made;
        };
        MultiHeadAttention self = attention("self_attention", plan.self);
        std::optional<MultiHeadAttention> cross;
        if (plan.cross) {
            cross = attention("cross_attention", AttentionKind::Cross);
        }
        const Scope feed_forward = layer.in("feed_forward");
        layers_.push_back(
            {name_ + "." + std::to_string(i), std::move(self), std::move(cross), {config, feed_forward, sites}});
        residuals_.add_sublayer(feed_forward, sites);
    }
    residuals_.end(scope);
}

template <class Self, class Cross>
Var Stack::run(Context& ctx, const Var& embedded, const Self& self, const Cross& cross) const {
    Stream x = residuals_.start(ctx, embedded);
    std::size_t sublayer = 0;
    for (std::size_t i = 0; i < layers_.size(); ++i) {
        const Layer& layer = layers_[i];
        set_label(ctx, layer.label, ".self_attention");
        x = residuals_.after(ctx, sublayer++, x, self(i, layer.self_attention, x.normed));
        if (layer.cross_attention) {
            set_label(ctx, layer.label, ".cross_attention");
            x = residuals_.after(ctx, sublayer++, x, cross(i, *layer.cross_attention, x.normed));
        }
        set_label(ctx, layer.label, ".feed_forward");
        x = residuals_.after(ctx, sublayer++, x, layer.feed_forward(ctx, x.normed));
    }
    return x.normed;
}

Var Stack::operator()(Context& ctx, const Tokens& tokens, const AttentionMask& mask, const Memory& memory) const {
    const AttentionMask padding{.key_lengths = memory.lengths};
    set_label(ctx, name_, ".embedding");
    const Var embedded = embedding_(ctx, tokens);
    const Var distances = distance_scores(ctx);
    return run(
        ctx, embedded,
        [&](std::size_t, const MultiHeadAttention& attention, const Var& x) {
            return attention.self(ctx, x, mask, distances);
        },
        [&](std::size_t, const MultiHeadAttention& attention, const Var& x) {
            return attention.cross(ctx, x, memory.states, padding);
        });
}

Var Stack::distance_scores(Context& ctx) const {
    return relative_ ? relative_->by_distance(ctx) : Var();
}

Cache Stack::start_cache(Context& ctx, std::int64_t rows, std::int64_t capacity, const Memory& memory) const {
    Cache cache(ctx.backend, config_, layers_.size(), rows, capacity, embedding_.dtype(ctx.backend));
    cache.source_lengths = memory.lengths;
    for (std::size_t i = 0; i < layers_.size(); ++i) {
        if (layers_[i].cross_attention) {
            set_label(ctx, layers_[i].label, ".cross_attention");
            const MultiHeadAttention& cross = *layers_[i].cross_attention;
            const KeysAndValues projected = cross.split_memory(cross.project_memory(ctx, memory.states));
            cache.layers[i].cross_keys = head_by_head(ctx.backend, projected.keys.value());
            cache.layers[i].cross_values = head_by_head(ctx.backend, projected.values.value());
        }
    }
    return cache;
}

Var Stack::attend_to_cache(Context& ctx, const Cache& cache, const Cache::Layer& cached,
                           const MultiHeadAttention& attention, const Var& x, const Var& by_distance) const {
    const MultiHeadAttention::Projected projected = attention.project_self(ctx, x);
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
    return attention.attend_and_project(ctx, projected.queries, to, {.causal = true, .query_offset = cache.position},
                                        by_distance);
}

// The rows that share a source are its queries, as if they were consecutive tokens of one sentence.
Var Stack::attend_to_sources(Context& ctx, const Cache& cache, const Cache::Layer& cached,
                             const MultiHeadAttention& attention, const Var& x) const {
    const std::int64_t sources = cached.cross_keys.dim(0);
    const std::int64_t tokens = x.shape()[1];
    const std::int64_t width = x.shape()[2];
    HEADSCOPE_CHECK(ctx.observer == nullptr || sources == cache.rows, "with an observer each row needs its own source");
    const Var queries = attention.project_queries(ctx, x.reshape({sources, cache.rows / sources * tokens, width}));
    const KeysAndValues to{Var(cached.cross_keys), Var(cached.cross_values)};
    return attention.attend_and_project(ctx, queries, to, {.key_lengths = cache.source_lengths})
        .reshape({cache.rows, tokens, width});
}

Var Stack::append(Context& ctx, const Cache& cache, const Tensor& ids) const {
    set_label(ctx, name_, ".embedding");
    const Var embedded = embedding_.at(ctx, ids, cache.position, cache.length);
    const Var distances = distance_scores(ctx);
    return run(
        ctx, embedded,
        [&](std::size_t i, const MultiHeadAttention& attention, const Var& x) {
            return attend_to_cache(ctx, cache, cache.layers[i], attention, x, distances);
        },
        [&](std::size_t i, const MultiHeadAttention& attention, const Var& x) {
            return attend_to_sources(ctx, cache, cache.layers[i], attention, x);
        });
}

}  // namespace headscope
