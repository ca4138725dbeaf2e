// 3.4 and 5.4: from hidden states to logits, and the loss of a batch without storing all of its logits.
#pragma once

#include "model/embedding.h"
#include "model/model.h"

namespace headscope {

class Projection {
public:
    Projection(const ModelConfig& config, const Scope& model, const EmbeddingTable& table);

    // hidden [batch, length, d_model]; result [batch, length, vocabulary].
    Var logits(Context& ctx, const Var& hidden) const;

    // hidden [batch, length, d_model], targets I32 [batch, length]. With a tape the gradients of hidden and of the
    // weights are computed here, chunk by chunk, while the logits of the chunk exist.
    LossSums loss(Context& ctx, const Var& hidden, const Tensor& targets, const LossOptions& options) const;

private:
    Var weight_;  // [vocabulary, d_model]
    Var bias_;    // [vocabulary], may be undefined
};

}  // namespace headscope
