// Token probabilities of given translations or texts under a model or an ensemble (teacher forcing): many at a time, in
// bounded memory.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data/corpus.h"
#include "model/model.h"

namespace headscope {

// One token of a target, given what the model sees: the source and the previous tokens, or a text with masks.
struct ForcedToken {
    double log_probability = 0.0;       // of this token
    double best_log_probability = 0.0;  // of the likeliest token
    bool likeliest = false;             // this token is the likeliest; ties go to the smaller id
};

// Amount of work on the device at a time; halved if its memory is too small.
struct ForcedLimits {
    std::int64_t batch_tokens = 1024;  // padded tokens of the longer side; at least one pair
    std::int64_t logit_rows = 512;     // rows of logits, each as wide as the vocabulary
};

// `frame` stands around the pairs. Returns for each pair its target's tokens and eos, or its labels, in the pairs'
// order. Either all pairs have labels or none, and a translation model takes none. Pairs of similar length share a
// batch; results depend on the other pairs only by rounding. Both sides including the end must fit every model's
// max_length. For several models with one vocabulary a token's probability is the mean of theirs, averaged on the host.
std::vector<std::vector<ForcedToken>> force_targets(Context& ctx, const std::vector<const Model*>& models,
                                                    std::span<const Example> pairs, const ForcedLimits& limits = {},
                                                    const Frame& frame = {});

}  // namespace headscope
