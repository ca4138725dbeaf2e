// What a training makes smaller: by default the model's loss of each token, or the loss of comparing responses.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "autograd/context.h"
#include "data/device_batch.h"
#include "model/model.h"

namespace headscope {

struct Objective {
    // With a tape it also runs the backward pass.
    std::function<LossSums(Context& ctx, const Model& model, const DeviceBatch& batch, const LossOptions& options)>
        loss = [](Context& ctx, const Model& model, const DeviceBatch& batch, const LossOptions& options) {
            return model.loss(ctx, batch, options);
        };
    std::vector<std::string> measures = {};  // the names of LossSums::measures, in reports and logs

    std::int64_t measured() const { return std::ssize(measures); }
};

// Of each pair of a prompt's responses, cross-entropy of choosing the better one by its score, and its mean over the
// pairs of the prompt (Ouyang et al., 2022): log sigmoid(better - worse), negated. LossOptions::epsilon is the
// probability that people mistook the pair (Mitchell, 2023).
Objective reward_objective();
// The same with the score beta (log P - log P of the reference), of whole responses (Rafailov et al., 2023). Needs
// Comparisons::references, a model with one softmax over the vocabulary, and no dropout.
Objective preference_objective(double beta);

// The smoothed cross-entropy of each text's class, of a model with classes.
Objective class_objective();
// The mean over a model's labels of the smoothed cross-entropy of having each or not (binary cross-entropy).
Objective labels_objective();
// The square of what each text's score is off, of a model with a scalar output. Not with LossOptions::gradient_scale.
Objective number_objective();

// The sum of the scores of the states that predict labels, each times the label's weight, which is the derivative of a
// loss by that score. The loss itself is the caller's: its sum is 0.
Objective weighted_scores_objective();

}  // namespace headscope
