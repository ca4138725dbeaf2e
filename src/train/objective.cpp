#include "train/objective.h"

#include "backend/ops/bias.h"
#include "backend/ops/elementwise.h"
#include "backend/ops/embedding.h"
#include "backend/ops/loss.h"
#include "backend/ops/search.h"
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
        const Var scores = model.label_scores(ctx, batch);
        if (ctx.tape != nullptr) {
            HEADSCOPE_CHECK(batch.predicted.weights.defined() && !options.gradient_scale.defined(),
                            "scores have weights, and their losses no scale");
            scores.add_gradient(backend, batch.predicted.weights.reshape(scores.shape()));
        }
    }
    Model::backward(ctx);
    return sums;
}

// 1 for each row whose class has the highest score, 0 for another; rows count by weight: [1].
Tensor right_rows(Backend& backend, const Tensor& logits, const Tensor& row_nll, const Tensor& weights) {
    constexpr float kSteep = 1e4F;
    const std::int64_t rows = logits.dim(0);
    const Tensor best = numbers(backend, {rows, 1});
    const Tensor classes = backend.empty({rows, 1}, DType::I32);
    backend.run(LogSoftmaxTopK{.logits = logits, .values = best, .indices = classes});
    const Tensor steep = numbers(backend, {1, rows, 1});  // 0, or far below
    const Tensor half = numbers(backend, {1, rows, 1});
    backend.run(AddScaled{.a = row_nll.reshape({1, rows, 1}),
                          .b = best.reshape({1, rows, 1}),
                          .out = steep,
                          .alpha = -kSteep,
                          .beta = -kSteep});
    backend.run(BiasActivation{.x = steep, .y = half, .activation = Activation::Sigmoid});
    const Tensor right = numbers(backend, {rows, 1});
    backend.run(Multiply{.a = half.reshape({rows, 1}), .b = weights.reshape({rows, 1}), .out = right});
    backend.run(AddScaled{.a = right, .out = right, .alpha = 2.0F});
    const Tensor sum = numbers(backend, {1});
    backend.run(SumRows{.x = right, .out = sum});
    return sum;
}

LossSums class_loss(Context& ctx, const Model& model, const DeviceBatch& batch, const LossOptions& options) {
    Backend& backend = ctx.backend;
    HEADSCOPE_CHECK(batch.predicted.weights.defined(), "texts with classes have weights");
    LossSums sums{.loss = numbers(backend, {1}), .nll = numbers(backend, {1})};
    {
        const Var scores = model.label_scores(ctx, batch);
        const std::int64_t rows = batch.predicted.classes.elements();
        const Tensor logits = scores.value().reshape({rows, scores.shape()[2]});
        const Tensor gradient = ctx.tape != nullptr ? numbers(backend, logits.shape) : Tensor();
        const Tensor loss = numbers(backend, {rows, 1});
        const Tensor nll = numbers(backend, {rows, 1});
        backend.run(SmoothedCrossEntropy{.logits = logits,
                                         .targets = batch.predicted.classes.reshape({rows}),
                                         .loss = loss.reshape({rows}),
                                         .nll = nll.reshape({rows}),
                                         .grad_logits = gradient,
                                         .grad_scale = ctx.tape != nullptr ? options.gradient_scale : Tensor(),
                                         .weights = batch.predicted.weights,
                                         .epsilon = options.epsilon,
                                         .smoothing = options.smoothing});
        backend.run(SumRows{.x = loss, .out = sums.loss});
        backend.run(SumRows{.x = nll, .out = sums.nll});
        sums.measures = right_rows(backend, logits, nll, batch.predicted.weights);
        if (ctx.tape != nullptr) {
            scores.add_gradient(backend, gradient.reshape(scores.shape()));
        }
    }
    Model::backward(ctx);
    return sums;
}

LossSums number_loss(Context& ctx, const Model& model, const DeviceBatch& batch, const LossOptions& options) {
    Backend& backend = ctx.backend;
    HEADSCOPE_CHECK(batch.predicted.numbers.defined() && batch.predicted.weights.defined(),
                    "texts with numbers have weights");
    HEADSCOPE_CHECK(!options.gradient_scale.defined(), "the losses of numbers have no scale");
    LossSums sums{.loss = numbers(backend, {1}), .nll = {}, .measures = numbers(backend, {1})};
    {
        const Var scores = model.label_scores(ctx, batch);
        const Shape column{scores.value().elements(), 1};
        const Tensor off = numbers(backend, column);
        const Tensor squares = numbers(backend, column);
        backend.run(AddScaled{.a = scores.value().reshape(column),
                              .b = batch.predicted.numbers.reshape(column),
                              .out = off,
                              .beta = -1.0F});
        backend.run(Multiply{.a = off, .b = batch.predicted.weights.reshape(column), .out = off});
        backend.run(Multiply{.a = off, .b = off, .out = squares});
        backend.run(SumRows{.x = squares, .out = sums.loss});
        backend.run(Copy{.x = sums.loss, .out = sums.measures});
        sums.nll = sums.loss;
        if (ctx.tape != nullptr) {
            backend.run(AddScaled{.a = off, .out = off, .alpha = 2.0F});
            scores.add_gradient(backend, off.reshape(scores.shape()));
        }
    }
    Model::backward(ctx);
    return sums;
}

}  // namespace

Objective class_objective() {
    return {.loss = class_loss, .measures = {"accuracy"}};
}

Objective number_objective() {
    return {.loss = number_loss, .measures = {"mse"}};
}

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
