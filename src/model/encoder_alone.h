// An encoder without a vocabulary, as ViT: what its states become is an output for scores (output.head).
#pragma once

#include "model/model.h"
#include "model/stack.h"

namespace headscope {

class EncoderAlone final : public Model {
public:
    EncoderAlone(const ModelConfig& config, const Scope& model);

    // Of the sources. The targets have a token for each of their positions.
    Var states(Context& ctx, const DeviceBatch& batch) const override;

private:
    // Error: the model writes no text.
    const Projection& projection() const override;
    const Stack& writer() const override { return stack_; }

    Stack stack_;
};

}  // namespace headscope
