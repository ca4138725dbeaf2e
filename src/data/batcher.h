// Which sentences share a step: of similar length, under a budget of tokens, in a seeded order. Paper 5.1.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/batch.h"

namespace headscope {

// What one batch may hold. Tokens are counted as the padded area, sentences * padded_length(longest), since that is
// what takes memory and time; batches hold so little padding (similar lengths) that the paper's "approximately 25,000"
// of real tokens is nearly the same number.
struct BatchBudget {
    std::int64_t source_tokens = 25'000;
    std::int64_t target_tokens = 25'000;
    std::int64_t sentences = 1 << 20;
    std::int64_t length_multiple = kLengthMultiple;  // smaller: less padding, more different shapes
    std::int64_t longest = Padding{}.longest;        // of the model; nothing is padded past it

    Padding padding() const { return {.multiple = length_multiple, .longest = longest}; }
};

// Where a run stands: all that a checkpoint needs to go on with the same batches.
struct BatcherState {
    std::int64_t epoch = 0;
    std::int64_t step = 0;  // in the epoch
    bool operator==(const BatcherState&) const = default;
};

class Batcher {
public:
    // Error when there is no pair, or when one alone is past the budget (naming its number).
    Batcher(std::vector<Pair> pairs, const BatchBudget& budget, std::uint64_t seed, const SpecialIds& ids);

    // The steps of an epoch as numbers of pairs: every pair once. From (pairs, budget, seed, epoch) alone. Pairs of the
    // same padded lengths meet in another order in every epoch, and the steps come in another order too.
    std::vector<std::vector<std::size_t>> plan(std::int64_t epoch) const;
    // The same in every epoch.
    std::int64_t steps_per_epoch() const { return static_cast<std::int64_t>(steps_.size()); }

    // The pairs of the next step; after an epoch's last step the next epoch begins.
    std::vector<std::size_t> next();
    // What next() will give. set_state throws an Error for a step that the epoch has not (another corpus or budget).
    BatcherState state() const { return state_; }
    void set_state(const BatcherState& state);

    const std::vector<Pair>& pairs() const { return pairs_; }
    Batch batch(const std::vector<std::size_t>& step) const;
    // One step in parts under a smaller budget, for memory that does not hold it at once: the sentences in the step's
    // order, with their ordinals in the whole step and padded as the step would be (not by `budget.length_multiple`). A
    // sentence that is past the budget by itself is a part of its own.
    std::vector<Batch> micro_batches(const std::vector<std::size_t>& step, const BatchBudget& budget) const;

private:
    Batch make(const std::vector<std::size_t>& step, std::size_t first, std::size_t count) const;

    std::vector<Pair> pairs_;
    BatchBudget budget_;
    std::uint64_t seed_;
    SpecialIds ids_;
    BatcherState state_;
    std::vector<std::vector<std::size_t>> steps_;  // plan(state_.epoch)
};

}  // namespace headscope
