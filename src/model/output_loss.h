// 5.4: the loss of a linear layer over classes, without storing all of its logits.
#pragma once

#include "autograd/context.h"
#include "model/model.h"

namespace headscope {

// Logits = scale * weight . hidden + bias.
struct OutputLayerWeights {
    Var weight;     // [classes, width]
    Var bias = {};  // [classes], may be undefined
    float scale = 1.0F;
};

// How many rows of logits of so many classes are computed at a time. On a CPU a few rows stay in the caches. On a GPU
// every chunk reads and writes the gradient of the whole weight, so chunks are large: up to 256 MiB, or 1 GiB if the
// device has 20 GiB or more. The order of sums depends on it, so it depends on the device alone and not on what is
// free.
std::int64_t output_rows_at_once(const DeviceInfo& device, std::int64_t classes, DType dtype);

// hidden [.., width], with a class for each of its rows, and maybe a weight. With a tape the gradients of hidden and of
// the weights are computed here, chunk by chunk, while the logits of the chunk exist.
LossSums output_loss(Context& ctx, const Var& hidden, const OutputLayerWeights& layer, const DeviceGather& predicted,
                     const LossOptions& options);

}  // namespace headscope
