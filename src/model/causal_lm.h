// A causal language model, as GPT: one stack in which no token attends to later ones.
#pragma once

#include "model/embedding.h"
#include "model/generator.h"
#include "model/projection.h"
#include "model/stack.h"

namespace headscope {

class CausalLm final : public Generator {
public:
    CausalLm(const ModelConfig& config, const Scope& model);
    CausalLm(const ModelConfig& config, const Parameters& parameters, ModelDescription declared = {})
        : CausalLm(config, Scope(declared, &parameters)) {}

    Var states(Context& ctx, const DeviceBatch& batch) const override;
    Cache start(Context& ctx, const DeviceBatch& batch) const override;

private:
    CausalLm(const ModelConfig& config, const Scope& model, const EmbeddingTable& table);
    const Projection& projection() const override { return projection_; }
    const Stack& writer() const override { return stack_; }

    Stack stack_;
    Projection projection_;
};

}  // namespace headscope
