// Beam search over a batch of sentences (paper 6.1). The Scorer interface hides the model, so that the search can be
// tested without one.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "infer/hypotheses.h"

namespace headscope {

// The model as a search sees it: the likeliest next tokens of each row, or all of them.
class Scorer {
public:
    static constexpr int kMostRanked = 64;  // most tokens per row that a device ranks

    Scorer() = default;
    Scorer(const Scorer&) = delete;
    Scorer& operator=(const Scorer&) = delete;
    virtual ~Scorer() = default;

    virtual std::int64_t vocabulary() const = 0;

    // Row i continues row parents[i] of the previous step with tokens[i] (in the first step: sentence parents[i], which
    // is still empty, with bos). k is at most kMostRanked and the vocabulary. The result stays valid until the next
    // step.
    virtual const NextTokens& step(const std::vector<std::int32_t>& tokens, const std::vector<std::int32_t>& parents,
                                   int k) = 0;
    // The same step with `most` tokens of each row, or only k if these are enough for the caller.
    virtual const NextTokens& step_until(const std::vector<std::int32_t>& tokens,
                                         const std::vector<std::int32_t>& parents, int k, int most,
                                         const std::function<bool(const NextTokens&)>& enough);
    // The same step with the probability of every token: for prefixes, sampling and many forbidden repetitions. Scorers
    // that are never used for these need not implement it.
    virtual const AllTokens& step_all(const std::vector<std::int32_t>& tokens,
                                      const std::vector<std::int32_t>& parents);

    // How many steps it may run_ahead(); 1 where that is no faster or not possible.
    virtual int most_ahead() const { return 1; }
    // The same as step() `count` times, where every row continues itself with its likeliest token of the step before.
    // The caller then says with keep() how many of these steps it wanted; the others never happened. k as in step().
    virtual std::span<const NextTokens> run_ahead(const std::vector<std::int32_t>& tokens,
                                                  const std::vector<std::int32_t>& parents, int k, int count);
    virtual void keep(int count);
};

// The best hypotheses for each task, in order: options.n_best of each, best first, fewer only if the vocabulary is too
// small. Finished sentences leave the batch.
std::vector<std::vector<Hypothesis>> search_tasks(Scorer& scorer, const std::vector<SearchTask>& tasks,
                                                  std::int32_t bos, const TokenRules& rules,
                                                  const SearchOptions& options);
// The best hypothesis for each entry of `limits` (the maximum output length of each sentence, including eos).
std::vector<Hypothesis> search(Scorer& scorer, const std::vector<std::int64_t>& limits, std::int32_t bos,
                               const TokenRules& rules, const SearchOptions& options);

}  // namespace headscope
