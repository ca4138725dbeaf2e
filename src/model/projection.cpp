#include "model/projection.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "support/check.h"

namespace headscope {

namespace {

// An empty target if no gradient is needed.
GradientTarget target_of(const Var& to, Backend& backend) {
    return to.requires_grad() ? to.gradient_target(backend) : GradientTarget{};
}

// On a CPU a few rows stay in the caches. On a GPU every chunk reads and writes the gradient of the whole weight, so
// chunks should be as large as memory allows.
std::int64_t rows_at_once(const DeviceInfo& device, std::int64_t classes, DType dtype) {
    constexpr std::int64_t kLeastRows = 512;
    constexpr std::int64_t kGpuBytes = std::int64_t{256} << 20;
    const std::int64_t row_bytes = std::max<std::int64_t>(classes * static_cast<std::int64_t>(size_of(dtype)), 1);
    return device.gpu ? std::max(kGpuBytes / row_bytes, kLeastRows) : kLeastRows;
}

}  // namespace

Projection::Projection(const ModelConfig& config, const Scope& model, const EmbeddingTable& table)
    : activation_(config.activation),
      scale_(config.scale_output ? 1.0F / std::sqrt(static_cast<float>(config.d_model)) : 1.0F),
      suppressed_(config.suppressed_ids) {
    const Scope scope = model.in("output").for_each(&MultiplyAdds::predicted_token);
    if (config.output_transform) {
        scope.block({.kind = BlockKind::Linear,
                     .title = "Transform",
                     .detail = fmt::format("{} \u2192 {}", config.d_model, config.d_model)});
        transform_weight_ = scope.weight({{"transform", config.d_model}}, config.d_model);
        transform_bias_ = scope.bias({{"transform", config.d_model}});
        norm_.emplace(config, scope.in("norm"));
    }
    const bool tied = config.tying == Tying::All || config.tying == Tying::TargetOutput;
    (tied ? table.scope : scope)
        .block({.kind = BlockKind::Linear,
                .title = "Linear",
                .detail = fmt::format("{} \u2192 {}{}", config.d_model, fmt::group_digits(config.target_vocabulary),
                                      tied ? "  \u00b7  the embedding" : ""),
                .shared = tied});
    weight_ = tied ? table.weight : scope.table(config.target_vocabulary, config.d_model);
    if (config.output_bias) {
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
        std::vector<float> values(static_cast<std::size_t>(weight_.shape()[0]));
        for (const std::int32_t id : suppressed_) {
            values[static_cast<std::size_t>(id)] = kNever;
        }
        *suppression_ = make_from_host(backend, {std::ssize(values)}, backend.real(), values);
    }
}

Var Projection::suppressing_bias(Context& ctx) const {
    if (suppressed_.empty() || ctx.tape != nullptr) {
        return bias_;
    }
    prepare(ctx.backend);
    if (!bias_.defined()) {
        return Var(*suppression_);
    }
    const Shape row{1, 1, suppression_->elements()};
    const Tensor sum = ctx.backend.empty(row, suppression_->dtype);
    ctx.backend.run(BiasActivation{.x = bias_.value().reshape(row), .bias = *suppression_, .y = sum});
    return Var(sum.reshape(suppression_->shape));
}

Var Projection::logits(Context& ctx, const Var& hidden) const {
    return bias_activation(ctx, linear(ctx, hidden, weight_, scale_), suppressing_bias(ctx), Activation::None);
}

LossSums Projection::loss(Context& ctx, const Var& hidden, const Tensor& targets, const LossOptions& options) const {
    Backend& backend = ctx.backend;
    const std::int64_t rows = targets.elements();
    const std::int64_t d_model = hidden.shape()[2];
    const std::int64_t classes = weight_.shape()[0];
    HEADSCOPE_CHECK(options.chunk_rows >= 0, "chunk_rows must not be negative");
    const std::int64_t chunk_rows =
        options.chunk_rows > 0 ? options.chunk_rows : rows_at_once(backend.device(), classes, hidden.value().dtype);
    const DType real = backend.real();
    const Var bias = options.suppress ? suppressing_bias(ctx) : bias_;
    const Tensor states = hidden.value().reshape({rows, d_model});
    const Tensor ids = targets.reshape({rows});
    const Tensor loss = backend.empty({rows, 1}, real);
    const Tensor nll = backend.empty({rows, 1}, real);
    const Tensor room = backend.empty({std::min(rows, chunk_rows), classes}, states.dtype);
    const bool backward = ctx.tape != nullptr;
    const GradientTarget to_hidden = backward ? target_of(hidden, backend) : GradientTarget{};
    HEADSCOPE_CHECK(!to_hidden.tensor.defined() || to_hidden.write == Write::Overwrite,
                    "the loss must be the first to write the gradient of the last hidden states");

    for (std::int64_t first = 0; first < rows; first += chunk_rows) {
        const std::int64_t size = std::min(chunk_rows, rows - first);
        const Tensor chunk = states.narrow(0, first, size);  // [size, d_model]
        const Tensor logits = room.narrow(0, 0, size);       // [size, classes], then their gradient
        backend.run(Matmul{.a = chunk,
                           .b = weight_.value(),
                           .out = logits,
                           .transpose_b = true,
                           .alpha = scale_,
                           .compute = ctx.compute,
                           .b_scales = weight_.scales()});
        if (bias.defined()) {
            const Tensor batch = logits.reshape({1, size, classes});
            backend.run(BiasActivation{.x = batch, .bias = bias.value(), .y = batch});
        }
        backend.run(SmoothedCrossEntropy{.logits = logits,
                                         .targets = ids.narrow(0, first, size),
                                         .loss = loss.narrow(0, first, size).reshape({size}),
                                         .nll = nll.narrow(0, first, size).reshape({size}),
                                         .grad_logits = backward ? logits : Tensor(),
                                         .grad_scale = backward ? options.gradient_scale : Tensor(),
                                         .prior = options.prior,
                                         .epsilon = options.epsilon,
                                         .smoothing = options.smoothing});
        if (to_hidden.tensor.defined()) {
            backend.run(Matmul{.a = logits,
                               .b = weight_.value(),
                               .out = to_hidden.tensor.reshape({rows, d_model}).narrow(0, first, size),
                               .alpha = scale_,
                               .compute = ctx.compute});
        }
        if (backward && weight_.requires_grad()) {
            const GradientTarget to = weight_.gradient_target(backend);
            backend.run(Matmul{.a = logits,
                               .b = chunk,
                               .out = to.tensor,
                               .transpose_a = true,
                               .alpha = scale_,
                               .beta = to.write == Write::Overwrite ? 0.0F : 1.0F,
                               .compute = ctx.compute});
        }
        if (backward && bias_.requires_grad()) {
            const GradientTarget to = bias_.gradient_target(backend);
            backend.run(SumRows{.x = logits, .out = to.tensor, .write = to.write});
        }
    }
    if (backward) {
        // Nothing remains for the backward pass, but the tape must know that these gradients are written.
        ctx.tape->record("loss", {weight_, bias_}, [](Backend&) {});
    }
    LossSums sums{backend.empty({1}, real), backend.empty({1}, real)};
    backend.run(SumRows{.x = loss, .out = sums.loss});
    backend.run(SumRows{.x = nll, .out = sums.nll});
    return sums;
}

}  // namespace headscope
