// 3.4 and 5.4: from hidden states to logits, and the loss of a batch without ever holding all its logits.
#pragma once

#include "model/embedding.h"
#include "model/transformer.h"

namespace headscope {

class Projection {
public:
    Projection(const ModelConfig& config, const Scope& model, const EmbeddingTables& tables);

    // hidden [batch, length, d_model]; result [batch, length, vocabulary].
    Var logits(Context& ctx, const Var& hidden) const;

    // hidden [batch, length, d_model], targets I32 [batch, length]. With a tape: the gradient of the sum goes to hidden
    // and to the weights at once, chunk by chunk, while the chunk's logits are there.
    LossSums loss(Context& ctx, const Var& hidden, const Tensor& targets, const LossOptions& options) const;

private:
    Var weight_;  // [vocabulary, d_model]
    Var bias_;    // [vocabulary], may be undefined
};

}  // namespace headscope
