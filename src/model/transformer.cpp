#include "model/transformer.h"

#include "model/decoder.h"
#include "model/encoder.h"
#include "model/projection.h"
#include "support/check.h"

namespace headscope {

namespace {

struct Layers {
    Layers(const ModelConfig& config, const Scope& model) : Layers(config, model, EmbeddingTables(config, model)) {}
    Layers(const ModelConfig& config, const Scope& model, const EmbeddingTables& tables)
        : sinusoids(std::make_shared<Sinusoids>(config)),
          encoder(config, model.in("encoder").for_each(&MultiplyAdds::source_token), tables.source, sinusoids, sites),
          decoder(config, model.in("decoder").for_each(&MultiplyAdds::target_token), tables.target, sinusoids, sites),
          projection(config, model, tables) {}

    DropoutSites sites;
    std::shared_ptr<Sinusoids> sinusoids;
    Encoder encoder;
    Decoder decoder;
    Projection projection;
};

}  // namespace

ModelDescription describe(const ModelConfig& config) {
    ModelDescription description;
    const Layers layers(config, Scope(description, nullptr));
    return description;
}

std::int64_t parameters_under(const ModelDescription& model, const std::string& prefix) {
    std::int64_t count = 0;
    for (const ParameterSpec& spec : model.parameters) {
        count += spec.name.starts_with(prefix) ? spec.shape.elements() : 0;
    }
    return count;
}

std::int64_t count_parameters(const ModelConfig& config) {
    return parameters_under(describe(config), "");
}

struct Transformer::Impl {
    Impl(const ModelConfig& model, const Parameters& parameters, ModelDescription declared = {})
        : config(model), layers(config, Scope(declared, &parameters)) {}

    ModelConfig config;
    Layers layers;
};

Transformer::Transformer(const ModelConfig& config, const Parameters& parameters)
    : impl_(std::make_unique<Impl>(config, parameters)) {}

Transformer::~Transformer() = default;

const ModelConfig& Transformer::config() const {
    return impl_->config;
}

void Transformer::prepare(Backend& backend, std::int64_t length) const {
    if (impl_->config.positions != Positions::Learned) {
        impl_->layers.sinusoids->table(backend, length);
    }
}

Var Transformer::encode(Context& ctx, const Tensor& ids, const Tensor& lengths, const Tensor& order) const {
    return impl_->layers.encoder(ctx, ids, lengths, order);
}

Var Transformer::decode(Context& ctx, const Tensor& target_in, const Var& memory, const Tensor& source_lengths,
                        const Tensor& order) const {
    return impl_->layers.decoder(ctx, target_in, memory, source_lengths, order);
}

Var Transformer::logits(Context& ctx, const Var& hidden) const {
    set_label(ctx, "projection", "");
    return impl_->layers.projection.logits(ctx, hidden);
}

LossSums Transformer::project_and_lose(Context& ctx, const Var& hidden, const Tensor& target_out,
                                       const LossOptions& options) const {
    set_label(ctx, "projection", "");
    return impl_->layers.projection.loss(ctx, hidden, target_out, options);
}

LossSums Transformer::loss(Context& ctx, const DeviceBatch& batch, const LossOptions& options) const {
    LossSums sums;
    {  // The states go out of scope here, so that the backward pass frees them as it proceeds.
        const Var memory = encode(ctx, batch.source, batch.source_lengths, batch.source_order);
        const Var hidden = decode(ctx, batch.target_in, memory, batch.source_lengths, batch.target_order);
        sums = project_and_lose(ctx, hidden, batch.target_out, options);
    }
    if (ctx.tape != nullptr) {
        if (ctx.label) {
            ctx.tape->on_replay = [&ctx](const std::string& name) { ctx.label("backward." + name); };
        }
        ctx.tape->backward(ctx.backend);
        ctx.tape->on_replay = {};
    }
    return sums;
}

DecoderCache Transformer::start_cache(Context& ctx, const Tensor& memory, const Tensor& source_lengths,
                                      std::int64_t capacity) const {
    HEADSCOPE_CHECK(ctx.tape == nullptr, "decoding with a cache records no tape");
    return impl_->layers.decoder.start_cache(ctx, memory, source_lengths, capacity);
}

Tensor Transformer::step(Context& ctx, DecoderCache& cache, const Tensor& ids) const {
    HEADSCOPE_CHECK(ctx.tape == nullptr, "decoding with a cache records no tape");
    impl_->layers.decoder.make_room(ctx, cache);
    const Var hidden = impl_->layers.decoder.append(ctx, cache, ids);
    const Tensor result = logits(ctx, hidden).value().reshape({cache.rows, impl_->config.target_vocabulary});
    impl_->layers.decoder.advance(ctx, cache);
    return result;
}

void Transformer::step_top_k(Context& ctx, DecoderCache& cache, const Tensor& ids, const Tensor& log_probabilities,
                             const Tensor& tokens) const {
    HEADSCOPE_CHECK(ctx.tape == nullptr, "decoding with a cache records no tape");
    impl_->layers.decoder.make_room(ctx, cache);
    const auto run = [&] {
        const Var hidden = impl_->layers.decoder.append(ctx, cache, ids);
        const Tensor all = logits(ctx, hidden).value().reshape({cache.rows, impl_->config.target_vocabulary});
        ctx.backend.run(LogSoftmaxTopK{.logits = all, .values = log_probabilities, .indices = tokens});
    };
    if (ctx.observer != nullptr) {
        run();
    } else {
        // Steps run the same ops until the number of cached tokens reaches the next multiple of 8.
        prepare(ctx.backend, padded_length(cache.length + 1));
        ctx.backend.replay("decoding step", run);
    }
    impl_->layers.decoder.advance(ctx, cache);
}

DecoderCache Transformer::reorder(Context& ctx, const DecoderCache& cache, const Tensor& rows,
                                  const Tensor& sources) const {
    return impl_->layers.decoder.reorder(ctx, cache, rows, sources);
}

}  // namespace headscope
