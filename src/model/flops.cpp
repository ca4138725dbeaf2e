#include "model/flops.h"

#include <algorithm>

namespace headscope {

namespace {

constexpr double kMultiplyAdd = 2.0;

// Pairs of a query and a key that it may attend to, those that are less than a window away, in a mean layer.
double source_pairs(double length, const WindowedLayers& layers) {
    const double w = std::min(static_cast<double>(layers.width), length);
    const double near = length * (2.0 * w - 1.0) - w * (w - 1.0);
    return layers.share * near + (1.0 - layers.share) * length * length;
}

// The same, and to no later ones.
double causal_pairs(double length, const WindowedLayers& layers) {
    return (length + source_pairs(length, layers)) / 2.0;
}

double decoder_pairs(const MultiplyAdds& each, double length) {
    return causal_pairs(length, each.causal_window) * each.causal_pair +
           source_pairs(length, each.causal_window) * each.target_pair;
}

}  // namespace

double encoder_multiply_adds(const MultiplyAdds& each, double length) {
    return length * each.source_token + source_pairs(length, each.source_window) * each.source_pair;
}

double forward_flops(const ModelConfig& model, const WorkShape& shape) {
    return translation_flops(model, shape, 1);
}

double training_flops(const ModelConfig& model, const WorkShape& shape) {
    return 3.0 * forward_flops(model, shape);
}

double translation_flops(const ModelConfig& model, const WorkShape& shape, int beam) {
    const MultiplyAdds each = describe(model).multiply_adds;
    const auto source = static_cast<double>(shape.source_length);
    const auto target = static_cast<double>(shape.target_length);
    const double encode = encoder_multiply_adds(each, source);
    const double decode = target * (each.target_token + each.predicted_token) + decoder_pairs(each, target) +
                          target * source * each.cross_pair;
    return kMultiplyAdd * static_cast<double>(shape.sentences) * (each.sentence + encode + beam * decode);
}

TrainingFlops::TrainingFlops(const ModelConfig& model, std::int64_t parameters)
    : architecture_(model.architecture),
      each_(describe(model).multiply_adds),
      clusters_(describe(model).output_clusters),
      optimizer_((kSquareSumFlops + kAdamFlops) * static_cast<double>(parameters)) {}

StepFlops TrainingFlops::of(std::span<const Batch> parts) const {
    StepFlops step{.optimizer = optimizer_};
    for (const Batch& part : parts) {
        const bool masked = architecture_ == Architecture::MaskedLm;
        const auto sentences = static_cast<double>(part.sentences);
        const auto target = static_cast<double>(part.target.length);
        const double source = masked ? target : static_cast<double>(part.source.length);
        const auto predicted = static_cast<double>(part.predicted.classes.size());
        step.weights += kMultiplyAdd * (sentences * (each_.sentence + source * each_.source_token) +
                                        sentences * target * each_.target_token + predicted * each_.predicted_token);
        for (std::size_t i = 0; i < clusters_.size(); ++i) {
            step.weights +=
                kMultiplyAdd * clusters_[i] * (static_cast<double>(part.adaptive.at(i + 1).rows.size()) - predicted);
        }
        step.attention += kMultiplyAdd * sentences *
                          (source_pairs(source, each_.source_window) * each_.source_pair +
                           decoder_pairs(each_, target) + target * source * each_.cross_pair);
    }
    return step;
}

}  // namespace headscope
