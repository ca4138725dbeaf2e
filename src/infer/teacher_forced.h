// What a model, or an ensemble, gives translations that it is told, token by token: many pairs at a time, in bounded
// memory.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data/corpus.h"
#include "model/transformer.h"

namespace headscope {

// One token of a target, after the source and the tokens before it.
struct ForcedToken {
    double log_probability = 0.0;       // of this token
    double best_log_probability = 0.0;  // of the token that is found likeliest there
    bool likeliest = false;             // they are the same token; of equal ones the smaller id counts as likeliest
};

// How much is on the device at a time; less where its memory does not hold that.
struct ForcedLimits {
    std::int64_t batch_tokens = 1024;  // padded tokens of the longer side; one pair always fits
    std::int64_t logit_rows = 512;     // of the whole vocabulary's width
};

// For each pair its target's tokens and the end of sentence, in the pairs' order. Pairs of similar length go together;
// what a pair gets depends on the others by no more than the rounding of sums. Neither side may be longer than any
// model's max_length with its end. Several models of one vocabulary: a token's probability is the mean of what they
// give it, and the distributions are averaged on the host.
std::vector<std::vector<ForcedToken>> force_targets(Context& ctx, const std::vector<const Transformer*>& models,
                                                    std::span<const Pair> pairs, const ForcedLimits& limits = {});

}  // namespace headscope
