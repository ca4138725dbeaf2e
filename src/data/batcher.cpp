#include "data/batcher.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "support/check.h"
#include "support/random.h"

namespace headscope {

namespace {

struct PaddedLengths {
    std::int64_t source = 0, target = 0;
};

PaddedLengths padded_lengths(const Pair& pair, const Padding& padding) {
    return {padding.of(static_cast<std::int64_t>(pair.source.size()) + 1),  // eos
            padding.of(static_cast<std::int64_t>(pair.target.size()) + 1)};
}

// The padded area of the sentences taken so far.
class Filling {
public:
    explicit Filling(const BatchBudget& budget) : budget_(budget) {}

    // Takes the sentence if the budget allows.
    bool take(const PaddedLengths& lengths) {
        const std::int64_t source = std::max(longest_.source, lengths.source);
        const std::int64_t target = std::max(longest_.target, lengths.target);
        const std::int64_t count = sentences_ + 1;
        if (count > budget_.sentences || count * source > budget_.source_tokens ||
            count * target > budget_.target_tokens) {
            return false;
        }
        longest_ = {source, target};
        sentences_ = count;
        return true;
    }

private:
    BatchBudget budget_;
    PaddedLengths longest_;
    std::int64_t sentences_ = 0;
};

void check_budget(const std::vector<Pair>& pairs, const BatchBudget& budget) {
    HEADSCOPE_CHECK(budget.length_multiple > 0,
                    "lengths are padded to multiples of " + std::to_string(budget.length_multiple));
    if (pairs.empty()) {
        throw Error(
            "there is no sentence pair to make batches of: check the training files and the longest length allowed");
    }
    for (std::size_t at = 0; at < pairs.size(); ++at) {
        const PaddedLengths lengths = padded_lengths(pairs[at], budget.padding());
        if (!Filling(budget).take(lengths)) {
            throw Error(fmt::format(
                "sentence pair {} takes {} source and {} target tokens, padded; a batch may hold {} and {} "
                "(and {} sentences): raise the budget or lower the longest length allowed",
                at + 1, lengths.source, lengths.target, budget.source_tokens, budget.target_tokens, budget.sentences));
        }
    }
}

}  // namespace

Batcher::Batcher(std::vector<Pair> pairs, const BatchBudget& budget, std::uint64_t seed, const SpecialIds& ids)
    : pairs_(std::move(pairs)), budget_(budget), seed_(seed), ids_(ids) {
    check_budget(pairs_, budget_);
    steps_ = plan(0);
}

std::vector<std::vector<std::size_t>> Batcher::plan(std::int64_t epoch) const {
    HEADSCOPE_CHECK(epoch >= 0, "epoch " + std::to_string(epoch));
    Random random(seed_, static_cast<std::uint64_t>(epoch));
    std::vector<std::size_t> order(pairs_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    random.shuffle(order);
    // By padded lengths; targets grow and shrink by turns, so that a step which spans two source lengths has no jump in
    // its targets. Pairs of equal lengths stay shuffled. The lengths' sequence, and with it the cuts, is the same in
    // every epoch.
    std::vector<std::pair<std::int64_t, std::int64_t>> keys(pairs_.size());
    for (std::size_t at = 0; at < pairs_.size(); ++at) {
        const PaddedLengths lengths = padded_lengths(pairs_[at], budget_.padding());
        const bool shrinking = lengths.source / budget_.length_multiple % 2 == 0;
        keys[at] = {lengths.source, shrinking ? -lengths.target : lengths.target};
    }
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return keys[a] < keys[b]; });

    std::vector<std::vector<std::size_t>> steps(1);
    Filling filling(budget_);
    for (const std::size_t pair : order) {
        const PaddedLengths lengths = padded_lengths(pairs_[pair], budget_.padding());
        if (!filling.take(lengths)) {
            steps.emplace_back();
            filling = Filling(budget_);
            filling.take(lengths);
        }
        steps.back().push_back(pair);
    }
    random.shuffle(steps);
    return steps;
}

std::vector<std::size_t> Batcher::next() {
    std::vector<std::size_t> step = steps_[static_cast<std::size_t>(state_.step)];
    if (++state_.step == steps_per_epoch()) {
        state_ = {state_.epoch + 1, 0};
        steps_ = plan(state_.epoch);
    }
    return step;
}

void Batcher::set_state(const BatcherState& state) {
    if (state.epoch < 0 || state.step < 0 || state.step >= steps_per_epoch()) {
        throw Error(
            fmt::format("the run stood at epoch {}, step {}, but an epoch of these data has {} steps: go on with the "
                        "data and the batch size that the run began with",
                        state.epoch, state.step, steps_per_epoch()));
    }
    state_ = state;
    steps_ = plan(state.epoch);
}

Batch Batcher::batch(const std::vector<std::size_t>& step) const {
    return make(step, 0, step.size());
}

std::vector<Batch> Batcher::micro_batches(const std::vector<std::size_t>& step, const BatchBudget& budget) const {
    std::vector<Batch> parts;
    std::size_t first = 0;
    while (first < step.size()) {
        Filling filling(budget);
        std::size_t count = 0;
        while (first + count < step.size() &&
               filling.take(padded_lengths(pairs_.at(step[first + count]), budget_.padding()))) {
            ++count;
        }
        count = std::max<std::size_t>(count, 1);
        parts.push_back(make(step, first, count));
        first += count;
    }
    return parts;
}

Batch Batcher::make(const std::vector<std::size_t>& step, std::size_t first, std::size_t count) const {
    std::vector<const Pair*> chosen;
    for (std::size_t at = first; at < first + count; ++at) {
        chosen.push_back(&pairs_.at(step[at]));
    }
    return make_batch(chosen, ids_, static_cast<std::int32_t>(first), budget_.padding());
}

}  // namespace headscope
