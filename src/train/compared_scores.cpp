#include "train/compared_scores.h"

#include "backend/ops/bias.h"
#include "backend/ops/elementwise.h"
#include "backend/ops/embedding.h"
#include "backend/ops/loss.h"

namespace headscope {

namespace {

Tensor numbers(Backend& backend, const Shape& shape) {
    return backend.empty(shape, backend.full_dtype());
}

// The numbers of both texts of each pair: [pairs, 2], the worse one first.
Tensor of_pairs(Backend& backend, const Tensor& of_texts, const DeviceComparisons& comparisons) {
    const Tensor out = numbers(backend, {1, comparisons.texts.elements(), 1});
    backend.run(Embed{.ids = comparisons.texts, .table = of_texts, .out = out});
    return out.reshape({comparisons.better.elements(), 2});
}

// The sum over pairs, by weight: [1].
void add_up(Backend& backend, const Tensor& of_pairs, const DeviceComparisons& comparisons, const Tensor& out) {
    const Tensor product = numbers(backend, comparisons.weights.shape);
    backend.run(Multiply{.a = of_pairs, .b = comparisons.weights, .out = product});
    backend.run(SumRows{.x = product, .out = out});
}

// Accuracy, margin, and the number that is reported of the better and of the worse text.
constexpr std::int64_t kMeasures = 4;

// `scores` [pairs, 2]; `reported` the same, of other numbers or of these.
Tensor measures_of(Backend& backend, const Tensor& scores, const Tensor& reported,
                   const DeviceComparisons& comparisons) {
    constexpr float kSteep = 1e6F;
    const Shape column = comparisons.weights.shape;
    const Shape row{1, column[0], 1};
    const Tensor margin = numbers(backend, column);
    const Tensor steep = numbers(backend, column);
    const Tensor right = numbers(backend, column);  // 1 for a positive margin, 1/2 for none
    backend.run(AddScaled{
        .a = scores.narrow(1, 1, 1), .b = scores.narrow(1, 0, 1), .out = margin, .alpha = 1.0F, .beta = -1.0F});
    backend.run(AddScaled{.a = margin, .out = steep, .alpha = kSteep});
    backend.run(BiasActivation{.x = steep.reshape(row), .y = right.reshape(row), .activation = Activation::Sigmoid});
    const Tensor measures = numbers(backend, {kMeasures});
    std::int64_t at = 0;
    for (const Tensor& of_pairs : {right, margin, reported.narrow(1, 1, 1), reported.narrow(1, 0, 1)}) {
        add_up(backend, of_pairs, comparisons, measures.narrow(0, at++, 1));
    }
    return measures;
}

// The losses of the pairs, whose scores become their gradients.
LossSums pair_losses(Backend& backend, const Tensor& scores, const DeviceComparisons& comparisons,
                     const ComparisonOptions& options) {
    const std::int64_t pairs = comparisons.better.elements();
    const Tensor loss = numbers(backend, {pairs, 1});
    const Tensor nll = numbers(backend, {pairs, 1});
    backend.run(SmoothedCrossEntropy{.logits = scores,
                                     .targets = comparisons.better,
                                     .loss = loss.reshape({pairs}),
                                     .nll = nll.reshape({pairs}),
                                     .grad_logits = scores,
                                     .grad_scale = options.gradient_scale,
                                     .weights = comparisons.weights.reshape({pairs}),
                                     .epsilon = options.epsilon,
                                     .smoothing = Smoothing::OtherClasses});
    LossSums sums{.loss = numbers(backend, {1}), .nll = numbers(backend, {1})};
    backend.run(SumRows{.x = loss, .out = sums.loss});
    backend.run(SumRows{.x = nll, .out = sums.nll});
    return sums;
}

}  // namespace

ComparedScores compare_scores(Backend& backend, const Tensor& scores, const Tensor& reported,
                              const DeviceComparisons& comparisons, const ComparisonOptions& options) {
    const Tensor pairs = of_pairs(backend, scores, comparisons);
    const Tensor measures = measures_of(backend, pairs, of_pairs(backend, reported, comparisons), comparisons);
    ComparedScores compared{.sums = pair_losses(backend, pairs, comparisons, options),
                            .gradient = numbers(backend, scores.shape)};
    compared.sums.measures = measures;
    backend.run(EmbedBackward{.ids = comparisons.texts,
                              .order = comparisons.order,
                              .grad_out = pairs.reshape({1, comparisons.texts.elements(), 1}),
                              .grad_table = compared.gradient});
    return compared;
}

}  // namespace headscope
