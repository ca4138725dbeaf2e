// How far what two devices compute is apart inside of a model, where translations only show what became of it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/transformer.h"

namespace headscope {

struct SiteDifference {
    AttentionSite site;
    double largest = 0.0;  // |difference| of a weight
};

struct InnerDifferences {
    std::size_t sentences = 0;
    double logits = 0.0;                  // the largest |difference| of a logit; infinite where one is no number
    double largest_logit = 0.0;           // the largest |logit|, beside which that is to be read
    std::vector<SiteDifference> weights;  // of every attention, in the order in which the model runs them

    void widen(const InnerDifferences& other);  // by another sentence's
};

// One of two devices, with the same model on it.
struct InnerSide {
    Backend& backend;
    const Transformer& model;
    Compute compute = Compute::F32;
};

// After one teacher-forced pass on each device. `source` ends with eos; `target` is what was written, without bos and
// without its last token.
InnerDifferences inner_differences(const std::array<InnerSide, 2>& sides, const std::vector<std::int32_t>& source,
                                   const std::vector<std::int32_t>& target);

}  // namespace headscope
