// Beam search over a batch of sentences at once. The model stands behind Scorer, so that the search is tested without
// one. Paper 6.1.
#pragma once

#include <cstdint>
#include <vector>

#include "infer/hypotheses.h"

namespace headscope {

// What a search asks of a model: the likeliest next tokens of each row, or all of them.
class Scorer {
public:
    static constexpr int kMostRanked = 64;  // tokens of a row that a device ranks

    Scorer() = default;
    Scorer(const Scorer&) = delete;
    Scorer& operator=(const Scorer&) = delete;
    virtual ~Scorer() = default;

    virtual std::int64_t vocabulary() const = 0;

    // Row i continues row parents[i] of the step before (before the first step: sentence parents[i], with nothing
    // written yet) with tokens[i]. The first tokens are bos. k is at most kMostRanked and the vocabulary. The result
    // stays valid until the next step.
    virtual const NextTokens& step(const std::vector<std::int32_t>& tokens, const std::vector<std::int32_t>& parents,
                                   int k) = 0;
    // The same step with every token's probability, for what a few of them are not enough for: prefixes, sampling, many
    // forbidden repetitions. A scorer that is never asked for these need not have it.
    virtual const AllTokens& step_all(const std::vector<std::int32_t>& tokens,
                                      const std::vector<std::int32_t>& parents);
};

// The best hypotheses for each task, in order: options.n_best of each, best first, fewer only where the vocabulary
// allows no more. Sentences leave the batch when they are done.
std::vector<std::vector<Hypothesis>> search_tasks(Scorer& scorer, const std::vector<SearchTask>& tasks,
                                                  std::int32_t bos, const TokenRules& rules,
                                                  const SearchOptions& options);
// One best hypothesis for each entry of `limits` (the longest output of each sentence, eos included).
std::vector<Hypothesis> search(Scorer& scorer, const std::vector<std::int64_t>& limits, std::int32_t bos,
                               const TokenRules& rules, const SearchOptions& options);

}  // namespace headscope
