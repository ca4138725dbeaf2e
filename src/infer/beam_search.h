// Beam search over a batch of sentences at once. The model stands behind Scorer, so that the search is tested without
// one. Paper 6.1.
#pragma once

#include <cstdint>
#include <vector>

#include "infer/hypotheses.h"

namespace headscope {

// What a search asks of a model: the likeliest next tokens of each row.
class Scorer {
public:
    Scorer() = default;
    Scorer(const Scorer&) = delete;
    Scorer& operator=(const Scorer&) = delete;
    virtual ~Scorer() = default;

    virtual std::int64_t vocabulary() const = 0;

    // Row i continues row parents[i] of the step before (before the first step: sentence parents[i], with nothing
    // written yet) with tokens[i]. The first tokens are bos. The result stays valid until the next step.
    virtual const NextTokens& step(const std::vector<std::int32_t>& tokens, const std::vector<std::int32_t>& parents,
                                   int k) = 0;
};

// One best hypothesis for each entry of `limits` (the longest output of each sentence, eos included), in order.
// Sentences leave the batch when they are done.
std::vector<Hypothesis> search(Scorer& scorer, const std::vector<std::int64_t>& limits, std::int32_t bos,
                               const TokenRules& rules, const SearchOptions& options);

}  // namespace headscope
