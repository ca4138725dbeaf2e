// How much arithmetic a model needs: multiplications and additions of its products, as its layers declare them. Divided
// by the time this is a device's speed in FLOP/s, whatever its kernels really compute. Embeddings, norms, softmax,
// dropout and the weights that a channel has for itself are not counted: they are small beside the products.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data/batch.h"
#include "model/config.h"
#include "model/description.h"

namespace headscope {

struct WorkShape {
    std::int64_t sentences = 0;
    std::int64_t source_length = 0;  // tokens of each sentence, without pads
    std::int64_t target_length = 0;
};

// Of an encoder's pass over one sentence.
double encoder_multiply_adds(const MultiplyAdds& each, double length);

// Forward. Attention counts only the keys that a query may attend to: causal ones, those within a window.
double forward_flops(const ModelConfig& model, const WorkShape& shape);

// Forward and backward, where every product has two of its size.
double training_flops(const ModelConfig& model, const WorkShape& shape);

// Encoding once and decoding with a cache. For each sentence `beam` rows do the decoder's forward pass over what they
// write.
double translation_flops(const ModelConfig& model, const WorkShape& shape, int beam);

// One step of training. Every product of the forward pass has two of its size in the backward pass.
struct StepFlops {
    double weights = 0.0;    // forward: products with weights (projections, feed-forward, logits)
    double attention = 0.0;  // forward: Q K^T, and the weighted sums of V
    double optimizer = 0.0;

    double forward() const { return weights + attention; }
    double backward() const { return 2.0 * forward(); }
    double total() const { return forward() + backward() + optimizer; }
};

// Operations of the ops SquareSum (x^2, +) and Adam (as its formula is written) for each parameter. 5.3.
constexpr double kSquareSumFlops = 2.0;
constexpr double kAdamFlops = 15.0;

class TrainingFlops {
public:
    // `parameters`: those that the optimizer updates, Parameters::total().
    TrainingFlops(const ModelConfig& model, std::int64_t parameters);

    // Of a step over these parts as it runs: with their padding, and with a document's attention to all of its block.
    StepFlops of(std::span<const Batch> parts) const;

private:
    Architecture architecture_;
    MultiplyAdds each_;
    std::vector<double> clusters_;
    double optimizer_;
};

}  // namespace headscope
