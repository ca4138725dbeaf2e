#include "model/decoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

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

Decoder::Decoder(const ModelConfig& config, const Scope& scope, const Var& table, std::shared_ptr<Sinusoids> sinusoids,
                 DropoutSites& sites)
    : heads_(config.heads),
      d_k_(config.d_k),
      d_v_(config.d_v),
      embedding_(config, scope, table, std::move(sinusoids), sites),
      residuals_(config) {
    for (int i = 0; i < config.decoder_layers; ++i) {
        const Scope layer = scope.layer(i);
        const Scope self_attention = layer.in("self_attention");
        const Scope cross_attention = layer.in("cross_attention");
        const Scope feed_forward = layer.in("feed_forward");
        // The order of construction fixes the order of parameters and the numbers of dropouts.
        MultiHeadAttention self(config, self_attention, {AttentionKind::DecoderSelf, i}, sites);
        residuals_.add_sublayer(self_attention, sites);
        MultiHeadAttention cross(config, cross_attention, {AttentionKind::Cross, i}, sites);
        residuals_.add_sublayer(cross_attention, sites);
        layers_.push_back(
            {"decoder." + std::to_string(i), std::move(self), std::move(cross), {config, feed_forward, sites}});
        residuals_.add_sublayer(feed_forward, sites);
    }
    residuals_.end(scope);
}

template <class Self, class Cross>
Var Decoder::run(Context& ctx, const Var& embedded, const Self& self, const Cross& cross) const {
    Stream x = residuals_.start(ctx, embedded);
    for (std::size_t i = 0; i < layers_.size(); ++i) {
        const Layer& layer = layers_[i];
        set_label(ctx, layer.label, ".self_attention");
        x = residuals_.after(ctx, 3 * i, x, self(i, layer.self_attention, x.normed));
        set_label(ctx, layer.label, ".cross_attention");
        x = residuals_.after(ctx, 3 * i + 1, x, cross(i, layer.cross_attention, x.normed));
        set_label(ctx, layer.label, ".feed_forward");
        x = residuals_.after(ctx, 3 * i + 2, x, layer.feed_forward(ctx, x.normed));
    }
    return x.normed;
}

Var Decoder::operator()(Context& ctx, const Tensor& target_in, const Var& memory, const Tensor& source_lengths,
                        const Tensor& order) const {
    // No token attends to later ones, so none attends to pads, which come last.
    const AttentionMask causal{.causal = true};
    const AttentionMask padding{.key_lengths = source_lengths};
    set_label(ctx, "decoder", ".embedding");
    const Var embedded = embedding_(ctx, target_in, order);
    return run(
        ctx, embedded,
        [&](std::size_t, const MultiHeadAttention& attention, const Var& x) { return attention.self(ctx, x, causal); },
        [&](std::size_t, const MultiHeadAttention& attention, const Var& x) {
            return attention.cross(ctx, x, memory, padding);
        });
}

void Decoder::allocate(Context& ctx, DecoderCache& cache, std::int64_t capacity, DType dtype) const {
    Backend& backend = ctx.backend;
    const std::vector<std::int64_t> depths = d_k_ == d_v_ ? std::vector{d_k_} : std::vector{d_k_, d_v_};
    const auto heads = static_cast<std::int64_t>(layers_.size()) * heads_ * (d_k_ == d_v_ ? 2 : 1);
    cache.kept.resize(depths.size());
    for (std::size_t i = 0; i < depths.size(); ++i) {
        Tensor& old = cache.kept[i];
        const Tensor grown = backend.empty({cache.rows, heads, capacity, depths[i]}, dtype);
        if (old.defined()) {
            backend.run(Copy{.x = old, .out = grown.narrow(2, 0, old.dim(2))});
        }
        old = grown;
    }
    cache.capacity = capacity;
    set_views(cache);
}

void Decoder::set_views(DecoderCache& cache) const {
    for (std::size_t i = 0; i < layers_.size(); ++i) {
        const auto first = static_cast<std::int64_t>(i) * heads_;
        DecoderCache::Layer& layer = cache.layers[i];
        if (cache.kept.size() == 1) {
            layer.self_both = cache.kept[0].narrow(1, 2 * first, 2 * heads_);
            layer.self_keys = layer.self_both.narrow(1, 0, heads_);
            layer.self_values = layer.self_both.narrow(1, heads_, heads_);
        } else {
            layer.self_keys = cache.kept[0].narrow(1, first, heads_);
            layer.self_values = cache.kept[1].narrow(1, first, heads_);
        }
    }
}

DecoderCache Decoder::start_cache(Context& ctx, const Tensor& memory, const Tensor& source_lengths,
                                  std::int64_t capacity) const {
    DecoderCache cache;
    cache.rows = memory.dim(0);
    cache.source_lengths = source_lengths;
    cache.layers.resize(layers_.size());
    for (std::size_t i = 0; i < layers_.size(); ++i) {
        set_label(ctx, layers_[i].label, ".cross_attention");
        const MultiHeadAttention& cross = layers_[i].cross_attention;
        const KeysAndValues projected = cross.split_memory(cross.project_memory(ctx, Var(memory)));
        cache.layers[i].cross_keys = head_by_head(ctx.backend, projected.keys.value());
        cache.layers[i].cross_values = head_by_head(ctx.backend, projected.values.value());
    }
    cache.position = ctx.backend.empty({1}, DType::I32);
    ctx.backend.run(Fill{.out = cache.position, .value = 0.0F});
    allocate(ctx, cache, padded_length(std::max<std::int64_t>(capacity, 1)), memory.dtype);
    return cache;
}

Var Decoder::attend_to_cache(Context& ctx, const DecoderCache& cache, const DecoderCache::Layer& cached,
                             const MultiHeadAttention& attention, const Var& x) const {
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
    const std::int64_t filled = cache.length + 1;
    const std::int64_t keys = ctx.observer != nullptr ? filled : padded_length(filled);
    const KeysAndValues to{Var(cached.self_keys.narrow(2, 0, keys)), Var(cached.self_values.narrow(2, 0, keys))};
    return attention.attend_and_project(ctx, projected.queries, to, {.causal = true, .query_offset = cache.position});
}

// The rows that share a source are its queries, as if they were consecutive tokens of one sentence.
Var Decoder::attend_to_sources(Context& ctx, const DecoderCache& cache, const DecoderCache::Layer& cached,
                               const MultiHeadAttention& attention, const Var& x) const {
    const std::int64_t sources = cached.cross_keys.dim(0);
    const std::int64_t width = x.shape()[2];
    HEADSCOPE_CHECK(ctx.observer == nullptr || sources == cache.rows, "with an observer each row needs its own source");
    const Var queries = attention.project_queries(ctx, x.reshape({sources, cache.rows / sources, width}));
    const KeysAndValues to{Var(cached.cross_keys), Var(cached.cross_values)};
    return attention.attend_and_project(ctx, queries, to, {.key_lengths = cache.source_lengths})
        .reshape({cache.rows, 1, width});
}

void Decoder::make_room(Context& ctx, DecoderCache& cache) const {
    if (cache.length == cache.capacity) {
        allocate(ctx, cache, 2 * cache.capacity, cache.kept.front().dtype);
    }
    if (cache.length % kLengthMultiple == 0) {
        // attend_to_cache reads up to a multiple. Masked entries have weight 0, but 0 times uninitialised memory could
        // be NaN.
        for (const Tensor& kept : cache.kept) {
            ctx.backend.run(Fill{.out = kept.narrow(2, cache.length, kLengthMultiple), .value = 0.0F});
        }
    }
}

Var Decoder::append(Context& ctx, const DecoderCache& cache, const Tensor& ids) const {
    set_label(ctx, "decoder", ".embedding");
    const Var embedded = embedding_.at(ctx, ids, cache.position, cache.length);
    return run(
        ctx, embedded,
        [&](std::size_t i, const MultiHeadAttention& attention, const Var& x) {
            return attend_to_cache(ctx, cache, cache.layers[i], attention, x);
        },
        [&](std::size_t i, const MultiHeadAttention& attention, const Var& x) {
            return attend_to_sources(ctx, cache, cache.layers[i], attention, x);
        });
}

void Decoder::advance(Context& ctx, DecoderCache& cache) const {
    ++cache.length;
    ctx.backend.run(Fill{.out = cache.position, .value = static_cast<float>(cache.length)});
}

DecoderCache Decoder::reorder(Context& ctx, const DecoderCache& cache, const Tensor& rows,
                              const Tensor& sources) const {
    Backend& backend = ctx.backend;
    const std::int64_t new_rows = rows.dim(0);
    const std::int64_t new_sources = sources.defined() ? sources.dim(0) : cache.source_lengths.dim(0);
    HEADSCOPE_CHECK(new_sources > 0 && new_rows % new_sources == 0,
                    fmt::format("{} rows cannot be divided equally among {} sources", new_rows, new_sources));
    const auto room = [&](const Tensor& x, std::int64_t count) {
        Shape shape = x.shape;
        shape.set(0, count);
        return shape;
    };
    const auto gather_sources = [&](const Tensor& x) {
        Tensor out = backend.empty(room(x, new_sources), x.dtype);
        backend.run(GatherRows{.x = x, .index = sources, .out = out});
        return out;
    };
    // Copies only the tokens that are cached, into room for just one more: a beam reorders at every step, and so it
    // mostly copies contiguous rows.
    const std::int64_t filled = padded_length(cache.length);
    const std::int64_t capacity = padded_length(cache.length + 1);
    const auto gather_filled = [&](const Tensor& x) {
        Shape shape = room(x, new_rows);
        shape.set(2, capacity);
        Tensor out = backend.empty(shape, x.dtype);
        backend.run(GatherRows{.x = x.narrow(2, 0, filled), .index = rows, .out = out.narrow(2, 0, filled)});
        return out;
    };
    DecoderCache next = cache;
    next.rows = new_rows;
    next.capacity = capacity;
    for (Tensor& kept : next.kept) {
        kept = gather_filled(kept);
    }
    if (sources.defined()) {
        next.source_lengths = gather_sources(cache.source_lengths);
        for (DecoderCache::Layer& layer : next.layers) {
            layer.cross_keys = gather_sources(layer.cross_keys);
            layer.cross_values = gather_sources(layer.cross_values);
        }
    }
    // The old cache keeps its own position.
    next.position = backend.empty({1}, DType::I32);
    backend.run(Fill{.out = next.position, .value = static_cast<float>(next.length)});
    set_views(next);
    return next;
}

}  // namespace headscope
