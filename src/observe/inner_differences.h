// Compares the logits and attention weights that two devices compute for the same model and sentence.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "data/corpus.h"
#include "model/model.h"

namespace headscope {

struct SiteDifference {
    AttentionSite site;
    double largest = 0.0;  // largest |difference| of a weight
};

struct InnerDifferences {
    std::size_t sentences = 0;
    double logits = 0.0;                  // largest |difference| of a logit; infinite if one is not finite
    double largest_logit = 0.0;           // largest |logit|, for scale
    std::vector<SiteDifference> weights;  // of every attention layer, in model order

    void widen(const InnerDifferences& other);  // takes the maximum with another sentence
};

// One of two devices, with the same model on it.
struct InnerSide {
    Backend& backend;
    const Model& model;
    Compute compute = Compute::F32;
};

// Runs one teacher-forced pass over the example on each device.
InnerDifferences inner_differences(const std::array<InnerSide, 2>& sides, const Example& example);

}  // namespace headscope
