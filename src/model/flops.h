// How much arithmetic a model needs: multiplications and additions of its products, as its layers declare them. Divided
// by the time this is a device's speed in FLOP/s, whatever its kernels really compute.
#pragma once

#include <cstdint>

#include "model/config.h"

namespace headscope {

struct WorkShape {
    std::int64_t sentences = 0;
    std::int64_t source_length = 0;  // tokens of each sentence, without pads
    std::int64_t target_length = 0;
};

// Forward. A causal attention counts only the keys that a query may attend to. Embeddings, norms, softmax, dropout and
// Adam are not counted: they are small beside the products.
double forward_flops(const ModelConfig& model, const WorkShape& shape);

// Forward and backward, where every product has two of its size.
double training_flops(const ModelConfig& model, const WorkShape& shape);

// Encoding once and decoding with a cache. For each sentence `beam` rows do the decoder's forward pass over what they
// write.
double translation_flops(const ModelConfig& model, const WorkShape& shape, int beam);

}  // namespace headscope
