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

// sigmoid(kSteep x), nearly 1 above 0 and 0 below it: x [rows, 1].
Tensor step_of(Backend& backend, const Tensor& x) {
    constexpr float kSteep = 1e4F;
    const Tensor steep = numbers(backend, x.shape);
    const Tensor step = numbers(backend, {1, x.dim(0), 1});
    backend.run(AddScaled{.a = x, .out = steep, .alpha = kSteep});
    backend.run(BiasActivation{.x = steep.reshape(step.shape), .y = step, .activation = Activation::Sigmoid});
    return step.reshape(x.shape);
}

// The sum of a and b, multiplied: [rows, 1] each.
Tensor weighed_sum(Backend& backend, const Tensor& a, const Tensor& b) {
    const Tensor product = numbers(backend, a.shape);
    const Tensor sum = numbers(backend, {1});
    backend.run(Multiply{.a = a, .b = b, .out = product});
    backend.run(SumRows{.x = product, .out = sum});
    return sum;
}

// 1 for each row whose class has the highest score, 0 for another; rows count by weight: [1].
Tensor right_rows(Backend& backend, const Tensor& logits, const Tensor& row_nll, const Tensor& weights) {
    const std::int64_t rows = logits.dim(0);
    const Tensor best = numbers(backend, {rows, 1});
    const Tensor classes = backend.empty({rows, 1}, DType::I32);
    backend.run(LogSoftmaxTopK{.logits = logits, .values = best, .indices = classes});
    const Tensor behind = numbers(backend, {rows, 1});  // 0, or less
    backend.run(AddScaled{.a = row_nll.reshape({rows, 1}), .b = best, .out = behind, .alpha = -1.0F, .beta = -1.0F});
    const Tensor right = step_of(backend, behind);  // a half, or 0
    backend.run(AddScaled{.a = right, .out = right, .alpha = 2.0F});
    return weighed_sum(backend, right, weights.reshape({rows, 1}));
}

struct ChosenClasses {
    LossSums sums;
    Tensor nll;       // [rows, 1]
    Tensor gradient;  // [rows, classes]; undefined without a tape
};

// The smoothed cross-entropy of logits [rows, classes]; targets and weights [rows].
ChosenClasses cross_entropy(Context& ctx, const Tensor& logits, const Tensor& targets, const Tensor& weights,
                            const LossOptions& options) {
    Backend& backend = ctx.backend;
    const Shape column{logits.dim(0), 1};
    const Tensor loss = numbers(backend, column);
    ChosenClasses found{.sums = {.loss = numbers(backend, {1}), .nll = numbers(backend, {1})},
                        .nll = numbers(backend, column),
                        .gradient = ctx.tape != nullptr ? numbers(backend, logits.shape) : Tensor()};
    backend.run(SmoothedCrossEntropy{.logits = logits,
                                     .targets = targets,
                                     .loss = loss.reshape({column[0]}),
                                     .nll = found.nll.reshape({column[0]}),
                                     .grad_logits = found.gradient,
                                     .grad_scale = ctx.tape != nullptr ? options.gradient_scale : Tensor(),
                                     .weights = weights,
                                     .epsilon = options.epsilon,
                                     .smoothing = options.smoothing});
    backend.run(SumRows{.x = loss, .out = found.sums.loss});
    backend.run(SumRows{.x = found.nll, .out = found.sums.nll});
    return found;
}

LossSums class_loss(Context& ctx, const Model& model, const DeviceBatch& batch, const LossOptions& options) {
    Backend& backend = ctx.backend;
    const Tensor& weights = batch.predicted.weights;
    HEADSCOPE_CHECK(weights.defined(), "texts with classes have weights");
    LossSums sums;
    {
        const Var scores = model.label_scores(ctx, batch);
        const std::int64_t rows = batch.predicted.classes.elements();
        const Tensor logits = scores.value().reshape({rows, scores.shape()[2]});
        const ChosenClasses found =
            cross_entropy(ctx, logits, batch.predicted.classes.reshape({rows}), weights, options);
        sums = found.sums;
        sums.measures = right_rows(backend, logits, found.nll, weights);
        if (ctx.tape != nullptr) {
            scores.add_gradient(backend, found.gradient.reshape(scores.shape()));
        }
    }
    Model::backward(ctx);
    return sums;
}

// Each label is a choice between its score, times -1 for a label that the text lacks, and 0.
LossSums labels_loss(Context& ctx, const Model& model, const DeviceBatch& batch, const LossOptions& options) {
    Backend& backend = ctx.backend;
    HEADSCOPE_CHECK(batch.predicted.numbers.defined(), "texts with lists of classes have numbers");
    LossSums sums;
    {
        const Var scores = model.label_scores(ctx, batch);
        const Shape column{scores.value().elements(), 1};
        const Tensor signs = batch.predicted.numbers.reshape(column);
        const Tensor choices = numbers(backend, {column[0], 2});
        backend.run(Fill{.out = choices});
        const Tensor margins = choices.narrow(1, 0, 1);
        backend.run(Multiply{.a = scores.value().reshape(column), .b = signs, .out = margins});
        const Tensor first = backend.empty({column[0]}, DType::I32);
        backend.run(Fill{.out = first});
        const Tensor weights = numbers(backend, column);  // 0 for rows without a label
        backend.run(Multiply{.a = signs, .b = signs, .out = weights});
        const auto labels = static_cast<float>(model.config().output.scores());
        backend.run(AddScaled{.a = weights, .out = weights, .alpha = 1.0F / labels});
        const ChosenClasses found = cross_entropy(ctx, choices, first, weights.reshape({column[0]}), options);
        sums = found.sums;
        sums.measures = weighed_sum(backend, step_of(backend, margins), weights);
        if (ctx.tape != nullptr) {
            const Tensor gradient = numbers(backend, column);
            backend.run(Multiply{.a = found.gradient.narrow(1, 0, 1), .b = signs, .out = gradient});
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

Objective labels_objective() {
    return {.loss = labels_loss, .measures = {"label_accuracy"}};
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
