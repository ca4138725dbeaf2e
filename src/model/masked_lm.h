// A masked language model, as BERT: one stack in which each token attends to all of its sequence.
#pragma once

#include "model/embedding.h"
#include "model/model.h"
#include "model/projection.h"
#include "model/stack.h"

namespace headscope {

class MaskedLm final : public Model {
public:
    MaskedLm(const ModelConfig& config, const Scope& model);
    MaskedLm(const ModelConfig& config, const Parameters& parameters, ModelDescription declared = {})
        : MaskedLm(config, Scope(declared, &parameters)) {}

    Var states(Context& ctx, const DeviceBatch& batch) const override;

private:
    MaskedLm(const ModelConfig& config, const Scope& model, const EmbeddingTable& table);
    const Projection& projection() const override { return projection_; }
    const Stack& writer() const override { return stack_; }

    Stack stack_;
    Projection projection_;
};

}  // namespace headscope
