// A number for each hidden state, beside the vocabulary's output: of reward models.
#pragma once

#include "autograd/context.h"
#include "autograd/variable.h"
#include "model/scope.h"

namespace headscope {

class ScalarOutput {
public:
    // The weights are in 32 bits and begin at 0, so that a random output does not disturb the model that it is added
    // to.
    ScalarOutput(const ModelConfig& config, const Scope& model);

    // states [batch, length, d_model]; the result [batch, length, 1] is of the backend's full_dtype().
    Var operator()(Context& ctx, const Var& states) const;

private:
    Var weight_;  // [1, d_model]
    Var bias_;    // [1]
};

}  // namespace headscope
