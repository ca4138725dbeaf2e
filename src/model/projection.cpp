#include "model/projection.h"

#include <cmath>

#include <fmt/format.h>

#include "backend/ops/bias.h"
#include "backend/ops/elementwise.h"
#include "backend/ops/loss.h"
#include "model/output_loss.h"
#include "support/check.h"

namespace headscope {

Projection::Projection(const ModelConfig& config, const Scope& model, const EmbeddingTable& table)
    : activation_(config.output.transform == OutputTransform::Gelu ? Activation::Gelu : config.feed_forward.activation),
      scale_(config.output.scale ? 1.0F / std::sqrt(static_cast<float>(config.d_model)) : 1.0F),
      coldness_(static_cast<float>(1.0 / config.output.temperature)),
      vocabulary_(config.target_vocabulary),
      suppressed_(config.frame.suppressed_ids) {
    const Scope scope = model.in("output").for_each(&MultiplyAdds::predicted_token);
    if (config.output.transform != OutputTransform::None) {
        scope.block({.kind = BlockKind::Linear,
                     .title = "Transform",
                     .detail = fmt::format("{} \u2192 {}", config.d_model, config.d_model)});
        transform_weight_ = scope.weight({{"transform", config.d_model}}, config.d_model);
        transform_bias_ = scope.bias({{"transform", config.d_model}});
        norm_.emplace(config, scope.in("norm"));
    }
    if (config.adaptive()) {
        adaptive_.emplace(config, scope, scale_);
        scope.block({.kind = BlockKind::Softmax, .title = "Softmax", .without_parameters = true});
        return;
    }
    const bool tied = config.embedding.tying == Tying::All || config.embedding.tying == Tying::TargetOutput;
    (tied ? table.scope : scope)
        .block({.kind = BlockKind::Linear,
                .title = "Linear",
                .detail = fmt::format("{} \u2192 {}{}", config.d_model, fmt::group_digits(config.target_vocabulary),
                                      tied ? "  \u00b7  the embedding" : ""),
                .shared = tied});
    weight_ = tied ? table.weight : scope.table(config.target_vocabulary, config.d_model);
    if (config.output.bias) {
        bias_ = scope.values("bias", {config.target_vocabulary}, Initial::Zero);
    }
    scope.multiply_adds(&MultiplyAdds::predicted_token, config.target_vocabulary * config.d_model);
    scope.block({.kind = BlockKind::Softmax, .title = "Softmax", .without_parameters = true});
}

Var Projection::transform(Context& ctx, const Var& hidden) const {
    if (!norm_) {
        return hidden;
    }
    const Var activated = linear_activation(ctx, hidden, transform_weight_, transform_bias_, activation_);
    return (*norm_)(ctx, activated, Var(), {}, Tensor()).y;
}

void Projection::prepare(Backend& backend) const {
    constexpr float kNever = -60000.0F;  // as a logit; fits F16
    if (!suppressed_.empty() && !suppression_->defined()) {
        std::vector<float> values(static_cast<std::size_t>(vocabulary_));
        for (const std::int32_t id : suppressed_) {
            values[static_cast<std::size_t>(id)] = kNever;
        }
        *suppression_ = make_from_host(backend, {std::ssize(values)}, backend.full_dtype(), values);
    }
}

// The bias with the temperature and the suppressed tokens of a model that is used, not trained.
Var Projection::used_bias(Context& ctx) const {
    if (suppressed_.empty() && (coldness_ == 1.0F || !bias_.defined())) {
        return bias_;
    }
    HEADSCOPE_CHECK(!bias_.requires_grad() || ctx.tape == nullptr,
                    "the output bias gets no gradient where tokens are suppressed or a temperature counts");
    prepare(ctx.backend);
    if (!bias_.defined()) {
        return Var(*suppression_);
    }
    const Tensor& bias = bias_.value();
    const Shape row{1, 1, bias.elements()};
    const Tensor sum = ctx.backend.empty(row, bias.dtype);
    ctx.backend.run(AddScaled{.a = bias.reshape(row), .out = sum, .alpha = coldness_});
    if (!suppressed_.empty()) {
        ctx.backend.run(BiasActivation{.x = sum, .bias = *suppression_, .y = sum});
    }
    return Var(sum.reshape(bias.shape));
}

Var Projection::logits(Context& ctx, const Var& hidden) const {
    const bool used = ctx.tape == nullptr;
    const Var all =
        adaptive_ ? adaptive_->logits(ctx, hidden) : linear(ctx, hidden, weight_, used ? scale_ * coldness_ : scale_);
    return bias_activation(ctx, all, used ? used_bias(ctx) : bias_, Activation::None);
}

bool Projection::ranks_clusters(const Backend& backend, std::int64_t k) const {
    const DeviceInfo& device = backend.device();
    const bool on_host = !device.gpu && !device.software && !backend.replays();
    return on_host && adaptive_ && suppressed_.empty() && k <= adaptive_->most_ranked();
}

void Projection::likeliest(Context& ctx, const Var& hidden, const Tensor& log_probabilities,
                           const Tensor& tokens) const {
    adaptive_->likeliest(ctx, hidden, log_probabilities, tokens);
}

LossSums Projection::loss(Context& ctx, const Var& hidden, const DeviceGather& predicted, const LossOptions& options,
                          std::span<const DeviceGather> adaptive) const {
    if (!adaptive_) {
        const OutputLayerWeights layer = options.as_used
                                             ? OutputLayerWeights{weight_, used_bias(ctx), scale_ * coldness_}
                                             : OutputLayerWeights{weight_, bias_, scale_};
        return output_loss(ctx, hidden, layer, predicted, options);
    }
    if (!adaptive.empty()) {
        HEADSCOPE_CHECK(!options.as_used || suppressed_.empty(), "the loss of clusters counts suppressed tokens");
        return adaptive_->loss(ctx, hidden, adaptive, options);
    }
    // Of all words at once.
    HEADSCOPE_CHECK(ctx.tape == nullptr, "gradients of an adaptive output need the clusters of the batch");
    const Tensor all = logits(ctx, hidden).value();
    LossSums sums{ctx.backend.empty({1}, ctx.backend.full_dtype()), ctx.backend.empty({1}, ctx.backend.full_dtype())};
    const std::int64_t rows = predicted.classes.elements();
    const Tensor loss = ctx.backend.empty({rows}, ctx.backend.full_dtype());
    const Tensor nll = ctx.backend.empty({rows}, ctx.backend.full_dtype());
    sums.row_nll = nll.reshape({rows, 1});
    ctx.backend.run(SmoothedCrossEntropy{.logits = all.reshape({rows, all.dim(2)}),
                                         .targets = predicted.classes.reshape({rows}),
                                         .loss = loss,
                                         .nll = nll,
                                         .prior = options.prior,
                                         .weights = predicted.weights,
                                         .epsilon = options.epsilon,
                                         .smoothing = options.smoothing});
    ctx.backend.run(SumRows{.x = loss.reshape({rows, 1}), .out = sums.loss});
    ctx.backend.run(SumRows{.x = nll.reshape({rows, 1}), .out = sums.nll});
    return sums;
}

}  // namespace headscope
