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

    // Reads some more of the prompts, in bounded time, and returns whether the rest has to be read, too. The first step
    // reads what is left.
    virtual bool read_on() { return false; }
    // Whether sentences may be added to those of the last step, of which some are left.
    virtual bool can_join() const { return false; }
    // Takes over the sentences of another scorer of the same kind that has made no step, and reads the rest of their
    // prompts. They become rows after those of the last step; the number of the first one is returned.
    virtual std::int32_t join(Scorer& other);

    // How many steps it may run_ahead(); 1 where that is no faster or not possible.
    virtual int most_ahead() const { return 1; }
    // The same as step() `count` times, where every row continues itself with its likeliest token of the step before.
    // The caller then says with keep() how many of these steps it wanted; the others never happened. k as in step().
    virtual std::span<const NextTokens> run_ahead(const std::vector<std::int32_t>& tokens,
                                                  const std::vector<std::int32_t>& parents, int k, int count);
    virtual void keep(int count);
};

// A search that goes on step by step, in which sentences may join and leave.
class TokenSearch {
public:
    explicit TokenSearch(Scorer& scorer) : scorer_(scorer) {}

    // A sentence of which `first` is read first: bos, or the last token of its prompt. `row`: its number among the
    // scorer's sentences before the first step, then what Scorer::join() returned for it.
    void add(SentenceBeam sentence, std::int32_t first, std::int32_t row);
    // Advances all unfinished sentences by one token, or by several where the scorer runs ahead. Returns whether any is
    // still unfinished.
    bool step();
    // Forgets sentence `i`, finished or not, and numbers those after it anew.
    void remove(std::size_t i);

    std::size_t size() const { return sentences_.size(); }
    // Those that were added, in order.
    const SentenceBeam& sentence(std::size_t i) const { return sentences_[i]; }
    // How many tokens all rows have read.
    std::int64_t tokens() const { return tokens_; }

private:
    // The rows of the next step, of all unfinished sentences side by side.
    struct Rows {
        std::vector<std::int32_t> tokens;
        std::vector<std::int32_t> parents;
    };
    template <class Visit>
    void for_unfinished(const Visit& visit);
    void step_once();
    int most_ahead();
    int run_ahead(int count);

    Scorer& scorer_;
    std::vector<SentenceBeam> sentences_;
    Rows rows_;
    int ahead_ = 1;  // twice as many after each time that all were wanted
    std::int64_t tokens_ = 0;
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
