// Numbers for hidden states, beside the vocabulary's output: the score of a reward model, those of classes, or those of
// an answer's start and end.
#pragma once

#include <cstdint>

#include "autograd/context.h"
#include "autograd/variable.h"
#include "model/scope.h"

namespace headscope {

class ScoreOutput {
public:
    // The weights are in 32 bits, and the last ones begin at 0, so that a random output does not disturb the model that
    // it is added to.
    ScoreOutput(const ModelConfig& config, const Scope& model);

    // states [batch, length, d_model]; the result [batch, length, OutputConfig::scores()] is of the backend's
    // full_dtype().
    Var operator()(Context& ctx, const Var& states) const;

private:
    Var scored(Context& ctx, const Var& inputs) const;

    ScoreLayer layer_;
    Var layer_weight_, layer_bias_;  // [d_model, d_model], [d_model]; undefined without a layer
    Var weight_;                     // [scores, d_model]
    Var bias_;                       // [scores]
};

// The mean of each text's states at every position of the text: states [batch, length, d_model], lengths I32 [batch].
// `heads`: into which the columns are split, if they divide them.
Var means_of_texts(Context& ctx, const Var& states, const Tensor& lengths, std::int64_t heads);

}  // namespace headscope
