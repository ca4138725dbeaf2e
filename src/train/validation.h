// The loss on held-out text.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "data/batcher.h"
#include "model/transformer.h"

namespace headscope {

// Per target token, eos counted, pads not.
struct ValidationLoss {
    double loss = 0.0;  // smoothed as in training
    double nll = 0.0;   // unsmoothed; perplexity = exp(nll)
    std::int64_t target_tokens = 0;
};

// Without dropout. Waits for the device once, at the end.
ValidationLoss validate(Backend& backend, const Transformer& model, const Batcher& batcher, const LossOptions& options,
                        Compute compute);

}  // namespace headscope
