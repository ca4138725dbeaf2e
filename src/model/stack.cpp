#include "model/stack.h"

#include <algorithm>
#include <array>
#include <utility>

#include "autograd/hooks.h"
#include "autograd/recurrence.h"
#include "backend/attention_mask.h"
#include "backend/ops/elementwise.h"
#include "model/experts.h"
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

Stack::FeedForwardPart Stack::make_feed_forward(const ModelConfig& config, const Scope& scope, DropoutSites& sites) {
    if (config.feed_forward.experts.count > 0) {
        return Experts(config, scope, sites);
    }
    return [plain = FeedForward(config, scope, sites)](Context& ctx, const Var& x, const Tensor& /*lengths*/) {
        return plain(ctx, x);
    };
}

Stack::Stack(const ModelConfig& model, const Scope& scope, const StackPlan& plan, const Var& table,
             std::shared_ptr<PositionTables> positions, DropoutSites& sites)
    : Stack(scope, of_stack(model, plan.self), plan, table, std::move(positions), sites) {}

Stack::Stack(const Scope& scope, const ModelConfig& config, const StackPlan& plan, const Var& table,
             std::shared_ptr<PositionTables> positions, DropoutSites& sites)
    : name_(scope.name()),
      returns_final_states_(plan.returns_final_states),
      embedding_(config, scope, plan.self, table, std::shared_ptr<Sinusoids>(positions, &positions->added), sites),
      positions_(std::move(positions)),
      residuals_(config) {
    if (config.positions.relative.kind == RelativePositions::Buckets && attends(config, plan.self)) {
        relative_.emplace_back(config, scope, reads_whole(config, plan.self));
    }
    for (int i = 0; i < plan.layers; ++i) {
        const Scope layer = scope.layer(i);
        // The order of construction fixes the order of parameters and the numbers of dropouts.
        if (config.positions.relative.kind == RelativePositions::LayerBuckets) {
            relative_.emplace_back(config, layer, reads_whole(config, plan.self));
        }
        const std::string label = name_ + "." + std::to_string(i);
        const std::string part = mixer_part(mixer_of(config, plan.self));
        const Scope first = layer.in(part);
        std::unique_ptr<Mixer> mixer = make_mixer(config, first, {plan.self, i}, sites);
        const bool ends = plan.returns_final_states && i + 1 == plan.layers;
        if (!ends || config.norm.of_inputs()) {
            residuals_.add_sublayer(first, sites);
        }
        if (ends) {
            layers_.push_back({label, label + "." + part, std::move(mixer), {}, {}});
            return;
        }
        std::optional<MultiHeadAttention> cross;
        if (plan.cross) {
            const Scope second = layer.in("cross_attention");
            cross.emplace(config, second, AttentionSite{AttentionKind::Cross, i}, sites);
            residuals_.add_sublayer(second, sites);
        }
        const Scope feed_forward = layer.in("feed_forward");
        layers_.push_back({label, label + "." + part, std::move(mixer), std::move(cross),
                           make_feed_forward(config, feed_forward, sites), is_turned(config, i),
                           window_of(config, plan.self, i) > 0});
        residuals_.add_sublayer(feed_forward, sites);
    }
    residuals_.end(scope);
}

template <class Mix, class Cross>
Var Stack::run(Context& ctx, const Var& embedded, const Tensor& lengths, const Mix& mix, const Cross& cross) const {
    Stream x = residuals_.start(ctx, embedded, lengths);
    std::size_t sublayer = 0;
    for (std::size_t i = 0; i < layers_.size(); ++i) {
        const Layer& layer = layers_[i];
        const auto add = [&](const Var& output, const char* site) {
            const Var shown = at_site(ctx, "out", output);
            x = residuals_.after(ctx, sublayer++, x, shown);
            x = residuals_.at_site(ctx, layer.label, site, sublayer, x);
        };
        x = residuals_.at_site(ctx, layer.label, "residual_in", sublayer, x);
        set_label(ctx, layer.mixer_label, "");
        const Var mixed = mix(i, *layer.mixer, x.normed);
        if (!layer.feed_forward) {
            return {};
        }
        add(mixed, "residual_mid");
        if (layer.cross_attention) {
            set_label(ctx, layer.label, ".cross_attention");
            add(cross(i, *layer.cross_attention, x.normed), "residual_cross");
        }
        set_label(ctx, layer.label, ".feed_forward");
        add(layer.feed_forward(ctx, x.normed, x.lengths), "residual_out");
    }
    return at_site(ctx, name_, "norm", x.normed);
}

Var Stack::operator()(Context& ctx, const DeviceTokens& tokens, const AttentionMask& mask, const Memory& memory) const {
    const AttentionMask padding{.key_lengths = memory.lengths};
    set_label(ctx, name_, ".embedding");
    const Var embedded = embedding_(ctx, tokens);
    std::vector<Var> last;
    std::vector<MixerInputs> inputs = positions_of_pass(ctx, tokens.ids.dim(1));
    const Var states = run(
        ctx, embedded, tokens.lengths,
        [&](std::size_t i, const Mixer& mixer, const Var& x) {
            inputs[i].mask = mask;
            inputs[i].memory = memory;
            inputs[i].last_states = returns_final_states_ ? &last : nullptr;
            return mixer(ctx, x, inputs[i]);
        },
        [&](std::size_t, const MultiHeadAttention& attention, const Var& x) {
            return attention.cross(ctx, x, memory.states, padding);
        });
    const std::int64_t batch = tokens.ids.dim(0);
    return returns_final_states_ ? join(ctx, last).reshape({batch, std::ssize(last), embedded.shape()[2]}) : states;
}

std::vector<MixerInputs> Stack::positions_of_pass(Context& ctx, std::int64_t length, const Cache* cached) const {
    std::vector<Var> distances;
    for (const RelativeTable& table : relative_) {
        distances.push_back(table.by_distance(ctx));
    }
    positions_->turned.grow(ctx.backend, length);
    const bool apart = cached != nullptr && cached->positions.defined();
    std::array<Turns, 2> turns;  // of layers without and with a window
    for (const bool windowed : {false, true}) {
        const bool used =
            std::ranges::any_of(layers_, [&](const Layer& layer) { return layer.turns && layer.windowed == windowed; });
        Turns& own = turns[windowed ? 1 : 0];
        if (used && apart) {
            own = positions_->turned.turns_at(ctx.backend, windowed, cached->positions);
        } else if (used) {
            own = positions_->turned.turns(windowed);
            own.first = cached != nullptr ? cached->position : Tensor();
        }
    }
    std::vector<MixerInputs> all;
    for (std::size_t i = 0; i < layers_.size(); ++i) {
        const Layer& layer = layers_[i];
        all.push_back({.by_distance = distances.empty() ? Var() : distances[std::min(i, distances.size() - 1)],
                       .turns = layer.turns ? turns[layer.windowed ? 1 : 0] : Turns{}});
    }
    return all;
}

Cache Stack::start_cache(Context& ctx, std::int64_t rows, std::int64_t capacity, const Memory& memory) const {
    HEADSCOPE_CHECK(ctx.hooks == nullptr, "hooks read whole texts, without a cache");
    CachePlan kept = layers_.front().mixer->cache_plan();
    kept.window = ctx.observer == nullptr ? kept.window : 0;  // an observer gets the weights of all tokens
    kept.by_rows = kept.by_rows && ctx.observer == nullptr &&
                   ctx.backend.key_rows(std::max(kept.d_k, kept.d_v)).level == SupportLevel::Native;
    Cache cache(ctx.backend, kept, layers_.size(), rows, capacity, embedding_.dtype(ctx.backend));
    cache.source_lengths = layers_.front().cross_attention ? memory.lengths : Tensor();
    for (std::size_t i = 0; i < layers_.size(); ++i) {
        set_label(ctx, layers_[i].mixer_label, "");
        layers_[i].mixer->start(ctx, cache.layers[i], memory);
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

Var Stack::reread(Context& ctx, const Cache& cache, const DeviceTokens& tokens) const {
    set_label(ctx, name_, ".embedding");
    const Var embedded = embedding_(ctx, tokens);
    std::vector<MixerInputs> inputs = positions_of_pass(ctx, tokens.ids.dim(1));
    return run(
        ctx, embedded, tokens.lengths,
        [&](std::size_t i, const Mixer& mixer, const Var& x) {
            inputs[i].mask.key_lengths = tokens.lengths;
            return mixer(ctx, x, inputs[i]);
        },
        [&](std::size_t i, const MultiHeadAttention& attention, const Var& x) {
            return attend_to_sources(ctx, cache, cache.layers[i], attention, x);
        });
}

Var Stack::append(Context& ctx, const Cache& cache, const Tensor& ids) const {
    set_label(ctx, name_, ".embedding");
    const Var embedded = cache.positions.defined() ? embedding_.each_at(ctx, ids, cache.positions, cache.longest() + 1)
                                                   : embedding_.at(ctx, ids, cache.position, cache.length);
    const std::vector<MixerInputs> inputs = positions_of_pass(ctx, cache.longest() + ids.dim(1), &cache);
    return run(
        ctx, embedded, Tensor(),
        [&](std::size_t i, const Mixer& mixer, const Var& x) {
            return mixer.append(ctx, cache, cache.layers[i], x, inputs[i]);
        },
        [&](std::size_t i, const MultiHeadAttention& attention, const Var& x) {
            return attend_to_sources(ctx, cache, cache.layers[i], attention, x);
        });
}

}  // namespace headscope
