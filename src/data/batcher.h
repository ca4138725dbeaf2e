// Which sentences share a step: of similar length, under a budget of tokens, in a seeded order. Paper 5.1.
#pragma once

#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <vector>

#include "data/batch.h"
#include "data/example_source.h"

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
    std::int64_t window = 0;  // of the epoch
    std::int64_t step = 0;    // of the window
    bool operator==(const BatcherState&) const = default;
};

class Batcher {
public:
    // Examples are brought into order and cut into steps so many at a time: memory holds two windows, however large the
    // corpora are, and what of sampled pieces is as long as what is met together by its real length.
    static constexpr std::size_t kWindow = std::size_t{1} << 16U;

    // Error when one pair alone is past the budget.
    Batcher(std::shared_ptr<const ExampleSource> source, const BatchBudget& budget, std::uint64_t seed,
            const SpecialIds& ids, std::size_t window = kWindow);
    // Pairs in memory, each once an epoch.
    Batcher(const std::vector<Pair>& pairs, const BatchBudget& budget, std::uint64_t seed, const SpecialIds& ids);

    using Step = std::vector<Pair>;
    // The pairs of the next step; after an epoch's last step the next epoch begins. Meanwhile another thread makes the
    // window that follows.
    Step next();
    // What next() will give. set_state throws an Error for a step that is not there (other data or another budget).
    BatcherState state() const { return state_; }
    void set_state(const BatcherState& state);
    double epochs_done() const;  // by examples

    // All steps of an epoch, from (source, budget, seed, epoch) alone. Examples of the same padded lengths meet in
    // another order in every epoch, and the steps come in another order too.
    void for_each_step(std::int64_t epoch, const std::function<void(const Step& step)>& visit) const;
    // Of an epoch, by the stored lengths.
    std::int64_t about_steps_per_epoch() const;

    Batch batch(const Step& step) const;
    // One step in parts under a smaller budget, for memory that does not hold it at once: the sentences in the step's
    // order, with their ordinals in the whole step and padded as the step would be (not by `budget.length_multiple`). A
    // sentence that is past the budget by itself is a part of its own.
    std::vector<Batch> micro_batches(const Step& step, const BatchBudget& budget) const;

private:
    struct Order {
        Epoch epoch;
        std::vector<std::uint32_t> examples;  // shuffled
    };
    struct Window {
        std::vector<Step> steps;
        std::int64_t examples_before = 0;  // in the epoch
        std::int64_t examples = 0;
    };
    std::shared_ptr<const Order> order_of(std::int64_t epoch) const;
    std::int64_t windows_of(const Order& order) const;
    Window window_of(const Order& order, std::int64_t number) const;
    void enter(std::int64_t epoch, std::int64_t window);
    void prepare_following();
    Batch make(const Step& step, std::size_t first, std::size_t count) const;

    std::shared_ptr<const ExampleSource> source_;
    BatchBudget budget_;
    std::uint64_t seed_;
    SpecialIds ids_;
    std::size_t window_size_;
    BatcherState state_;
    std::shared_ptr<const Order> order_;  // of state_.epoch
    Window window_;                       // of state_.window
    struct Following {
        std::shared_ptr<const Order> order;
        Window window;
    };
    std::future<Following> following_;  // the window after window_; ends before what it reads does
};

}  // namespace headscope
