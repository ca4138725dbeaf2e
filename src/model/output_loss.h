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

// hidden [.., width], targets I32 of as many elements as that has rows. With a tape the gradients of hidden and of the
// weights are computed here, chunk by chunk, while the logits of the chunk exist.
LossSums output_loss(Context& ctx, const Var& hidden, const OutputLayerWeights& layer, const Tensor& targets,
                     const LossOptions& options);

}  // namespace headscope
