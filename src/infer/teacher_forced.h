// Token probabilities of given translations or texts under a model or an ensemble (teacher forcing): many at a time, in
// bounded memory.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "data/corpus.h"
#include "infer/session.h"
#include "model/model.h"

namespace headscope {

// One token of a target, given what the model sees: the source and the previous tokens, or a text with masks.
struct ForcedToken {
    double log_probability = 0.0;                // of this token
    double best_log_probability = 0.0;           // of the likeliest token
    bool likeliest = false;                      // this token is the likeliest; ties go to the smaller id
    std::vector<TokenChance> alternatives = {};  // ForcedLimits::alternatives of the likeliest tokens, best first
    // How far the largest logit is above the mean of the others, with ForcedLimits::logit_gaps. Infinite or huge if a
    // model never writes some tokens.
    double logit_gap = 0.0;
};

// Amount of work on the device at a time; halved if its memory is too small.
struct ForcedLimits {
    std::int64_t batch_tokens = 1024;  // padded tokens of the longer side; at least one pair
    std::int64_t logit_rows = 512;     // rows of logits, each as wide as the vocabulary
    int alternatives = 0;              // to list, at most SearchOptions::kMaxAlternatives
    bool logit_gaps = false;           // to measure ForcedToken::logit_gap
    double temperature = 1.0;          // what the logits are divided by, beside the model's own temperature
};

// `frame` stands around the pairs. Returns for each pair its target's tokens and eos, or its labels, in the pairs'
// order. Either all pairs have labels or none, and a translation model takes none. Pairs of similar length share a
// batch; results depend on the other pairs only by rounding. Both sides including the end must fit every model's
// max_length. For several models with one vocabulary a token's probability is the mean of theirs, averaged on the host.
std::vector<std::vector<ForcedToken>> force_targets(Context& ctx, const std::vector<const Model*>& models,
                                                    std::span<const Example> pairs, const ForcedLimits& limits = {},
                                                    const Frame& frame = {});

// Finds the probabilities of given tokens; a step is one batch.
class ForcedSession : public WorkSession {
public:
    // What force_targets() or force_texts() returns, once no step is left.
    std::vector<std::vector<ForcedToken>> take() { return std::move(results_); }

protected:
    explicit ForcedSession(std::size_t size) : results_(size) {}
    std::vector<std::vector<ForcedToken>> results_;
};

// force_targets() step by step. Pairs and context outlive it.
class ForcedTargets final : public ForcedSession {
public:
    ForcedTargets(Context& ctx, std::vector<const Model*> models, std::span<const Example> pairs,
                  const ForcedLimits& limits, Frame frame);

    bool step() override;
    std::int64_t tokens() const override { return tokens_; }

private:
    void force(std::span<const std::size_t> members, std::int64_t logit_rows);
    void force_at_once(std::span<const std::size_t> members, std::int64_t logit_rows);

    Context& ctx_;
    const std::vector<const Model*> models_;
    const std::span<const Example> pairs_;
    const ForcedLimits limits_;
    const Frame frame_;
    std::int64_t longest_ = 0;
    std::vector<std::vector<std::size_t>> batches_;
    std::size_t next_ = 0;  // batch
    std::int64_t tokens_ = 0;
};

}  // namespace headscope
