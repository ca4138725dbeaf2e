#include "train/objective.h"

#include "backend/ops/elementwise.h"
#include "backend/ops/embedding.h"
#include "support/check.h"
#include "train/compared_scores.h"

namespace headscope {

namespace {

Tensor numbers(Backend& backend, const Shape& shape) {
    return backend.empty(shape, backend.full_dtype());
}

LossSums reward_loss(Context& ctx, const Model& model, const DeviceBatch& batch, const LossOptions& options) {
    LossSums sums;
    {
        const Var scores = model.text_scores(ctx, batch, batch.comparisons.ends);
        const ComparedScores compared =
            compare_scores(ctx.backend, scores.value(), scores.value(), batch.comparisons,
                           {.epsilon = options.epsilon, .gradient_scale = options.gradient_scale});
        sums = compared.sums;
        if (ctx.tape != nullptr) {
            scores.add_gradient(ctx.backend, compared.gradient);
        }
    }  // the scores go out of scope, so that the backward pass frees them as it proceeds
    Model::backward(ctx);
    return sums;
}

// The sum of the rows of each text: [texts, 1].
Tensor sums_of_texts(Backend& backend, const Tensor& of_rows, const DeviceComparisons& comparisons) {
    const Tensor sums = numbers(backend, comparisons.references.shape);
    backend.run(EmbedBackward{.ids = comparisons.text_of,
                              .order = comparisons.text_order,
                              .grad_out = of_rows.reshape({1, comparisons.text_of.elements(), 1}),
                              .grad_table = sums});
    return sums;
}

// Writes the gradients of the rows' losses, each times the gradient of its text's score.
void token_gradients(Context& ctx, const Model& model, const Var& states, const DeviceBatch& batch,
                     const Tensor& of_texts, float beta, LossOptions options) {
    Backend& backend = ctx.backend;
    const DeviceComparisons& comparisons = batch.comparisons;
    const std::int64_t rows = comparisons.text_of.elements();
    DeviceGather predicted = batch.predicted;
    predicted.weights = numbers(backend, {rows});
    // A score falls with the negative log-likelihood.
    backend.run(Embed{
        .ids = comparisons.text_of, .table = of_texts, .out = predicted.weights.reshape({1, rows, 1}), .scale = -beta});
    options.epsilon = 0.0F;
    model.token_loss(ctx, states, predicted, options);
}

LossSums preference_loss(Context& ctx, const Model& model, const DeviceBatch& batch, const LossOptions& options,
                         float beta) {
    Backend& backend = ctx.backend;
    const DeviceComparisons& comparisons = batch.comparisons;
    HEADSCOPE_CHECK(comparisons.references.defined(), "preferences are compared with a reference model");
    LossSums sums;
    {
        const Var states = model.predicted_states(ctx, batch);
        Context untaped = ctx;
        untaped.tape = nullptr;
        const Tensor row_nll =
            model.token_loss(untaped, states, batch.predicted, {.epsilon = 0.0F, .chunk_rows = options.chunk_rows})
                .row_nll;
        const Tensor nll = sums_of_texts(backend, row_nll, comparisons);
        const Tensor log_p = numbers(backend, nll.shape);
        const Tensor scores = numbers(backend, nll.shape);
        backend.run(AddScaled{.a = nll, .out = log_p, .alpha = -1.0F});
        backend.run(AddScaled{.a = log_p, .b = comparisons.references, .out = scores, .alpha = beta, .beta = -beta});
        const ComparedScores compared =
            compare_scores(backend, scores, log_p, comparisons, {.epsilon = options.epsilon});
        sums = compared.sums;
        if (ctx.tape != nullptr) {
            token_gradients(ctx, model, states, batch, compared.gradient, beta, options);
        }
    }
    Model::backward(ctx);
    return sums;
}

LossSums weighted_scores_loss(Context& ctx, const Model& model, const DeviceBatch& batch, const LossOptions& options) {
    Backend& backend = ctx.backend;
    const LossSums sums{.loss = numbers(backend, {1}), .nll = numbers(backend, {1})};
    backend.run(Fill{.out = sums.loss});
    backend.run(Fill{.out = sums.nll});
    {
        const Var scores = model.scores(ctx, model.predicted_states(ctx, batch));
        if (ctx.tape != nullptr) {
            HEADSCOPE_CHECK(batch.predicted.weights.defined() && !options.gradient_scale.defined(),
                            "scores have weights, and their losses no scale");
            scores.add_gradient(backend, batch.predicted.weights.reshape(scores.shape()));
        }
    }
    Model::backward(ctx);
    return sums;
}

}  // namespace

Objective weighted_scores_objective() {
    return {.loss = weighted_scores_loss};
}

Objective reward_objective() {
    return {.loss = reward_loss, .measures = {"accuracy", "margin", "better_reward", "worse_reward"}};
}

Objective preference_objective(double beta) {
    return {.loss = [beta = static_cast<float>(beta)](
                        Context& ctx, const Model& model, const DeviceBatch& batch,
                        const LossOptions& options) { return preference_loss(ctx, model, batch, options, beta); },
            .measures = {"accuracy", "margin", "better_log_probability", "worse_log_probability"}};
}

}  // namespace headscope
