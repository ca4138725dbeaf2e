#include "model/model.h"

#include "autograd/hooks.h"
#include "model/causal_lm.h"
#include "model/encoder_alone.h"
#include "model/encoder_decoder.h"
#include "model/family.h"
#include "model/mask_predict.h"
#include "model/masked_lm.h"
#include "model/projection.h"
#include "model/score_output.h"
#include "model/stack.h"
#include "support/check.h"

namespace headscope {

namespace {

std::unique_ptr<Model> build(const ModelConfig& config, const Scope& scope) {
    switch (config.architecture) {
        case Architecture::EncoderDecoder:
            if (config.generation == Generation::MaskPredict) {
                return std::make_unique<MaskPredict>(config, scope);
            }
            return std::make_unique<EncoderDecoder>(config, scope);
        case Architecture::CausalLm: return std::make_unique<CausalLm>(config, scope);
        case Architecture::MaskedLm: return std::make_unique<MaskedLm>(config, scope);
        case Architecture::Encoder: return std::make_unique<EncoderAlone>(config, scope);
    }
    return nullptr;
}

}  // namespace

std::unique_ptr<Model> make_model(const ModelConfig& config, const Parameters& parameters) {
    ModelDescription declared;
    return build(config, Scope(declared, &parameters));
}

ModelDescription describe(const ModelConfig& config) {
    ModelDescription description;
    build(config, Scope(description, nullptr));
    return description;
}

std::int64_t parameters_under(const ModelDescription& model, const std::string& prefix) {
    std::int64_t count = 0;
    for (const ParameterSpec& spec : model.parameters) {
        count += spec.trained && spec.name.starts_with(prefix) ? spec.shape.elements() : 0;
    }
    return count;
}

std::int64_t count_parameters(const ModelConfig& config) {
    return parameters_under(describe(config), "");
}

Model::Model(const ModelConfig& config) : config_(config), positions_(std::make_shared<PositionTables>(config)) {}

void Model::add_score_output(const Scope& model) {
    if (config_.output.head != OutputHead::Vocabulary) {
        score_output_ = std::make_shared<const ScoreOutput>(config_, model);
    }
}

void Model::prepare(Backend& backend, std::int64_t length) const {
    positions_->grow(backend, length);
    if (traits(config_.architecture).writes_pieces) {
        projection().prepare(backend);
    }
}

Var Model::states_of_residual(Context& ctx, const Var& residual) const {
    return writer().states_of_residual(ctx, residual);
}

Var Model::logits(Context& ctx, const Var& hidden) const {
    set_label(ctx, "projection", "");
    static const std::string kSite = "logits";
    return at_site(ctx, kSite, "", projection().logits(ctx, projection().transform(ctx, hidden)));
}

Var Model::scores(Context& ctx, const Var& hidden) const {
    HEADSCOPE_CHECK(score_output_ != nullptr, "a model without an output for scores gives none");
    set_label(ctx, "score_output", "");
    return (*score_output_)(ctx, hidden);
}

Var Model::label_scores(Context& ctx, const DeviceBatch& batch) const {
    Var states = this->states(ctx, batch);
    if (config_.output.scored == ScoredState::Mean) {
        states = means_of_texts(ctx, states, batch.target.lengths, config_.attention.heads);
    }
    return scores(ctx, gather(ctx, states, batch.predicted));
}

Var Model::text_scores(Context& ctx, const DeviceBatch& batch, const DeviceGather& ends) const {
    const Var scores = this->scores(ctx, gather(ctx, states(ctx, batch), ends));
    return scores.reshape({scores.shape()[1], 1});
}

LossSums Model::token_loss(Context& ctx, const Var& hidden, const DeviceGather& predicted, const LossOptions& options,
                           std::span<const DeviceGather> adaptive) const {
    set_label(ctx, "projection", "");
    return projection().loss(ctx, projection().transform(ctx, hidden), predicted, options, adaptive);
}

Var Model::gather(Context& ctx, const Var& states, const DeviceGather& from) {
    if (!from.rows.defined()) {
        return states;
    }
    const std::int64_t d_model = states.shape()[2];
    const Var table = states.reshape({states.value().elements() / d_model, d_model});
    return embed(ctx, {.ids = from.rows, .order = from.order, .table = table});
}

LossSums Model::token_loss(Context& ctx, const Var& hidden, const DeviceBatch& batch,
                           const LossOptions& options) const {
    return token_loss(ctx, gather(ctx, hidden, batch.predicted), batch.predicted, options, batch.adaptive);
}

LossSums Model::batch_loss(Context& ctx, const DeviceBatch& batch, const LossOptions& options) const {
    return token_loss(ctx, states(ctx, batch), batch, options);
}

LossSums Model::loss(Context& ctx, const DeviceBatch& batch, const LossOptions& options) const {
    // The states go out of scope here, so that the backward pass frees them as it proceeds.
    const LossSums sums = batch_loss(ctx, batch, options);
    backward(ctx);
    return sums;
}

void Model::backward(Context& ctx) {
    if (ctx.tape == nullptr) {
        return;
    }
    if (ctx.label) {
        ctx.tape->on_backward = [&ctx](const std::string& name) { ctx.label("backward." + name); };
    }
    ctx.tape->backward(ctx.backend);
    ctx.tape->on_backward = {};
}

}  // namespace headscope
