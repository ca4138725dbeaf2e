// Groups sentences of similar length into steps, under a token budget and in a seeded order. Paper 5.1.
#pragma once

#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <span>
#include <vector>

#include "data/batch.h"
#include "data/example_source.h"
#include "data/step_source.h"

namespace headscope {

// The size limit of a batch. Tokens are counted as the padded area, sentences * padded_length(longest), because that
// takes memory and time. Batches of similar lengths have so little padding that the paper's "approximately 25,000" real
// tokens is nearly the same number.
struct BatchBudget {
    std::int64_t source_tokens = 25'000;
    std::int64_t target_tokens = 25'000;
    std::int64_t sentences = 1 << 20;
    std::int64_t length_multiple = kLengthMultiple;  // smaller: less padding, more different shapes
    std::int64_t longest = Padding{}.longest;        // the model's limit, which also limits padding

    Padding padding() const { return {.multiple = length_multiple, .longest = longest}; }
};

// The position of next().
struct BatcherState {
    std::int64_t epoch = 0;
    std::int64_t window = 0;  // of the epoch
    std::int64_t step = 0;    // of the window
    bool operator==(const BatcherState&) const = default;
};

// Splits a step into parts under a budget, to save memory. Sentences keep the step's order, their ordinals in the whole
// step, and the step's padding (not `budget.length_multiple`). A sentence that exceeds the budget by itself forms its
// own part.
// `rows`: of the whole step before these sentences.
std::vector<Batch> micro_batches(std::span<const Example> step, const Frame& frame, const Padding& padding,
                                 const BatchBudget& budget, std::int64_t rows = 0);

// How much of a batch an example takes: its rows times their padded length, of the longer side.
std::int64_t padded_area(const Example& example, const Frame& frame, const Padding& padding);

class Batcher final : public StepSource {
public:
    // Examples are sorted and cut into steps in windows of this size. Memory holds two windows, however large the
    // corpora are, and examples with sampled pieces are sorted by their actual lengths.
    static constexpr std::size_t kWindow = std::size_t{1} << 16U;

    // Error if one pair alone exceeds the budget.
    Batcher(std::shared_ptr<const ExampleSource> source, const BatchBudget& budget, std::uint64_t seed,
            const Frame& frame, std::size_t window = kWindow);
    // Pairs in memory, each once an epoch.
    Batcher(const std::vector<Example>& pairs, const BatchBudget& budget, std::uint64_t seed, const Frame& frame);

    using Step = std::vector<Example>;
    // Another thread prepares the next window meanwhile.
    TrainingStep next() override;
    nlohmann::json state() const override;
    void set_state(const nlohmann::json& state) override;
    BatcherState position() const { return state_; }
    // Error for a step that does not exist (other data or another budget).
    void go_to(const BatcherState& position);
    double epochs_done() const override;  // by examples

    // All steps of an epoch, which depend only on (source, budget, seed, epoch). Each epoch shuffles examples of the
    // same padded lengths and the steps.
    void for_each_step(std::int64_t epoch, const std::function<void(const Step& step)>& visit) const;
    // Estimated from the stored lengths.
    std::int64_t about_steps_per_epoch() const override;

    Batch batch(const Step& step) const;
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

    std::shared_ptr<const ExampleSource> source_;
    BatchBudget budget_;
    std::uint64_t seed_;
    Frame frame_;
    std::size_t window_size_;
    BatcherState state_;
    std::shared_ptr<const Order> order_;  // of state_.epoch
    Window window_;                       // of state_.window
    struct Following {
        std::shared_ptr<const Order> order;
        Window window;
    };
    std::future<Following>
        following_;  // the window after window_; declared last, so that it ends before the members it reads
};

}  // namespace headscope
