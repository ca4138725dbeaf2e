// The loss of scores that should order responses as people did.
#pragma once

#include "backend/backend.h"
#include "data/device_batch.h"
#include "model/model.h"

namespace headscope {

struct ComparisonOptions {
    float epsilon = 0.0F;        // the probability that people mistook a pair
    Tensor gradient_scale = {};  // see LossOptions
};

struct ComparedScores {
    // Of -log sigmoid(better - worse), its mean over the pairs of a prompt. The measures are means as well: the share
    // of pairs that the scores order as people did (half of the pairs that they do not order), their margin, and the
    // reported number of the better text and of the worse one.
    LossSums sums;
    Tensor gradient;  // of the loss by the scores, [texts, 1]
};

// scores and reported [texts, 1], of the backend's full_dtype().
ComparedScores compare_scores(Backend& backend, const Tensor& scores, const Tensor& reported,
                              const DeviceComparisons& comparisons, const ComparisonOptions& options = {});

}  // namespace headscope
