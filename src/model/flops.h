// How much arithmetic a model is: the products' multiplications and additions, counted from their shapes. A device's
// speed in FLOP/s is this number over the time, whatever the kernels really compute.
#pragma once

#include <cstdint>

#include "model/config.h"

namespace headscope {

struct WorkShape {
    std::int64_t sentences = 0;
    std::int64_t source_length = 0;  // tokens of each sentence, without pads
    std::int64_t target_length = 0;
};

// Forward: a query of a causal attention counts the keys that it may look at alone. Embeddings, norms, softmax, dropout
// and Adam are not counted, for they are few beside these.
double forward_flops(const ModelConfig& model, const WorkShape& shape);

// Forward and backward: every product has two on the way back, of its size.
double training_flops(const ModelConfig& model, const WorkShape& shape);

// Encoding once and decoding with a cache: `beam` rows for each sentence are the forward pass over what they write.
double translation_flops(const ModelConfig& model, const WorkShape& shape, int beam);

}  // namespace headscope
