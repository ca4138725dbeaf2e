#include "data/batcher.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

#include "data/pair_source.h"
#include "support/check.h"
#include "support/random.h"

namespace headscope {

namespace {

struct PaddedLengths {
    std::int64_t source = 0, target = 0;
    std::int64_t rows = 1;
};

PaddedLengths padded_lengths(const Example& pair, const Frame& frame, const Padding& padding) {
    if (!pair.ranks.empty()) {
        return {0, padding.of(longest_text(pair)), std::ssize(pair.ranks)};
    }
    if (!pair.labels.empty()) {
        const bool reads = !pair.source.empty() && frame.mask < 0;  // a text with a label for both stacks
        return {reads ? padding.of(frame.source_positions(std::ssize(pair.source))) : 0,
                padding.of(static_cast<std::int64_t>(pair.target.size()))};
    }
    return {padding.of(frame.source_positions(std::ssize(pair.source))),
            padding.of(std::ssize(pair.target) + frame.around_target())};
}

// The padded area of the sentences taken so far.
class Filling {
public:
    explicit Filling(const BatchBudget& budget) : budget_(budget) {}

    // Takes the sentence if the budget allows.
    bool take(const PaddedLengths& lengths) {
        const std::int64_t source = std::max(longest_.source, lengths.source);
        const std::int64_t target = std::max(longest_.target, lengths.target);
        const std::int64_t count = sentences_ + lengths.rows;
        if (count > budget_.sentences || count * source > budget_.source_tokens ||
            count * target > budget_.target_tokens) {
            return false;
        }
        force(lengths);
        return true;
    }
    // Takes it in any case.
    void force(const PaddedLengths& lengths) {
        longest_ = {.source = std::max(longest_.source, lengths.source),
                    .target = std::max(longest_.target, lengths.target)};
        sentences_ += lengths.rows;
    }

private:
    BatchBudget budget_;
    PaddedLengths longest_;
    std::int64_t sentences_ = 0;
};

void check_budget(const ExampleSource& source, const BatchBudget& budget) {
    HEADSCOPE_CHECK(budget.length_multiple > 0,
                    "lengths are padded to multiples of " + std::to_string(budget.length_multiple));
    const SideCounts longest = source.longest();
    const PaddedLengths lengths{budget.padding().of(longest.source), budget.padding().of(longest.target)};
    if (!Filling(budget).take(lengths)) {
        throw Error(fmt::format(
            "the longest sentences have {} source and {} target tokens, padded, but a batch may have {} and {} (and {} "
            "sentences): raise the budget or lower the longest length allowed",
            lengths.source, lengths.target, budget.source_tokens, budget.target_tokens, budget.sentences));
    }
}

// A random stream for each window.
std::uint64_t window_stream(std::int64_t epoch, std::int64_t window) {
    return mix_bits(static_cast<std::uint64_t>(epoch) + 1) ^ ~static_cast<std::uint64_t>(window);
}

}  // namespace

Batcher::Batcher(std::shared_ptr<const ExampleSource> source, const BatchBudget& budget, std::uint64_t seed,
                 const Frame& frame, std::size_t window)
    : source_(std::move(source)), budget_(budget), seed_(seed), frame_(frame), window_size_(window) {
    HEADSCOPE_CHECK(window > 0, "the window must not be empty");
    check_budget(*source_, budget_);
}

Batcher::Batcher(const std::vector<Example>& pairs, const BatchBudget& budget, std::uint64_t seed, const Frame& frame)
    : Batcher(std::make_shared<const PairSource>(pairs, frame), budget, seed, frame) {}

std::shared_ptr<const Batcher::Order> Batcher::order_of(std::int64_t number) const {
    auto order = std::make_shared<Order>();
    order->epoch = source_->epoch(number);
    order->examples.resize(order->epoch.examples());
    std::iota(order->examples.begin(), order->examples.end(), std::uint32_t{0});
    Random(seed_, static_cast<std::uint64_t>(number)).shuffle(order->examples);
    return order;
}

std::int64_t Batcher::windows_of(const Order& order) const {
    return static_cast<std::int64_t>((order.examples.size() + window_size_ - 1) / window_size_);
}

Batcher::Window Batcher::window_of(const Order& order, std::int64_t number) const {
    const std::size_t first = static_cast<std::size_t>(number) * window_size_;
    const std::size_t count = std::min(window_size_, order.examples.size() - first);
    std::vector<Example> pairs = source_->fetch(order.epoch, std::span(order.examples).subspan(first, count));
    // Sort by padded lengths. Target lengths alternately rise and fall, so that a step that spans two source lengths
    // has no jump in its target lengths. Pairs of equal lengths stay shuffled.
    std::vector<std::size_t> sorted(count);
    std::iota(sorted.begin(), sorted.end(), std::size_t{0});
    std::vector<PaddedLengths> lengths(count);
    std::vector<std::pair<std::int64_t, std::int64_t>> keys(count);
    for (std::size_t at = 0; at < count; ++at) {
        lengths[at] = padded_lengths(pairs[at], frame_, budget_.padding());
        const bool shrinking = lengths[at].source / budget_.length_multiple % 2 == 0;
        keys[at] = {lengths[at].source, shrinking ? -lengths[at].target : lengths[at].target};
    }
    std::stable_sort(sorted.begin(), sorted.end(), [&](std::size_t a, std::size_t b) { return keys[a] < keys[b]; });

    Window window{.steps = std::vector<Step>(1),
                  .examples_before = static_cast<std::int64_t>(first),
                  .examples = static_cast<std::int64_t>(count)};
    Filling filling(budget_);
    for (const std::size_t pair : sorted) {
        if (!filling.take(lengths[pair])) {
            if (!window.steps.back().empty()) {
                window.steps.emplace_back();
            }
            filling = Filling(budget_);
            // If it exceeds the budget by itself, because of sampled pieces or many responses, it forms its own step.
            filling.force(lengths[pair]);
        }
        window.steps.back().push_back(std::move(pairs[pair]));
    }
    Random(seed_, window_stream(order.epoch.number, number)).shuffle(window.steps);
    return window;
}

void Batcher::enter(std::int64_t epoch, std::int64_t window) {
    if (!order_ || order_->epoch.number != epoch) {
        order_ = order_of(epoch);
    }
    if (window < 0 || window >= windows_of(*order_)) {
        throw Error(fmt::format(
            "the run stopped in part {} of epoch {}, but an epoch of this data has {}: resume with the data "
            "that the run started with",
            window, epoch, windows_of(*order_)));
    }
    window_ = window_of(*order_, window);
}

void Batcher::prepare_following() {
    following_ = std::async(std::launch::async, [this, order = order_, number = state_.window + 1] {
        if (number < windows_of(*order)) {
            return Following{order, window_of(*order, number)};
        }
        const std::shared_ptr<const Order> next = order_of(order->epoch.number + 1);
        return Following{next, window_of(*next, 0)};
    });
}

TrainingStep Batcher::next() {
    if (!order_) {
        enter(0, 0);
    }
    if (!following_.valid()) {
        prepare_following();
    }
    TrainingStep step{std::move(window_.steps[static_cast<std::size_t>(state_.step)])};
    if (++state_.step == static_cast<std::int64_t>(window_.steps.size())) {
        Following following = following_.get();
        const bool same = following.order->epoch.number == state_.epoch;
        state_ = {following.order->epoch.number, same ? state_.window + 1 : 0, 0};
        order_ = std::move(following.order);
        window_ = std::move(following.window);
    }
    return step;
}

nlohmann::json Batcher::state() const {
    return {{"epoch", state_.epoch}, {"window", state_.window}, {"window_step", state_.step}};
}

void Batcher::set_state(const nlohmann::json& state) {
    const auto number = [&](const char* key) {
        if (!state.contains(key) || !state[key].is_number_integer() || state[key].get<std::int64_t>() < 0) {
            throw Error(fmt::format("the position in the data is {}, where \"{}\" is no whole number from 0",
                                    state.dump(), key));
        }
        return state[key].get<std::int64_t>();
    };
    go_to({.epoch = number("epoch"), .window = number("window"), .step = number("window_step")});
}

void Batcher::go_to(const BatcherState& position) {
    following_ = {};
    HEADSCOPE_CHECK(position.epoch >= 0, "epochs count from 0");
    enter(position.epoch, position.window);
    const auto steps = static_cast<std::int64_t>(window_.steps.size());
    if (position.step < 0 || position.step >= steps) {
        throw Error(fmt::format(
            "the run stopped at step {} of part {} of epoch {}, which has {} steps: resume with the data and "
            "the batch size that the run started with",
            position.step, position.window, position.epoch, steps));
    }
    state_ = position;
}

double Batcher::epochs_done() const {
    if (!order_) {
        return 0.0;
    }
    const double in_window = static_cast<double>(state_.step) / static_cast<double>(window_.steps.size());
    const double examples =
        static_cast<double>(window_.examples_before) + in_window * static_cast<double>(window_.examples);
    return static_cast<double>(state_.epoch) + examples / static_cast<double>(order_->examples.size());
}

void Batcher::for_each_step(std::int64_t epoch, const std::function<void(const Step& step)>& visit) const {
    const std::shared_ptr<const Order> order = order_of(epoch);
    for (std::int64_t window = 0; window < windows_of(*order); ++window) {
        for (const Step& step : window_of(*order, window).steps) {
            visit(step);
        }
    }
}

std::int64_t Batcher::about_steps_per_epoch() const {
    const SideCounts tokens = source_->tokens(source_->epoch(0));
    const auto parts = [](std::int64_t all, std::int64_t budget) { return (all + budget - 1) / budget; };
    return std::max(
        {parts(tokens.source, budget_.source_tokens), parts(tokens.target, budget_.target_tokens), std::int64_t{1}});
}

Batch Batcher::batch(const Step& step) const {
    return make_batch(std::span(step), frame_, 0, budget_.padding());
}

std::vector<Batch> Batcher::micro_batches(const Step& step, const BatchBudget& budget) const {
    return headscope::micro_batches(step, frame_, budget_.padding(), budget);
}

std::vector<Batch> micro_batches(std::span<const Example> step, const Frame& frame, const Padding& padding,
                                 const BatchBudget& budget, std::int64_t rows) {
    std::vector<Batch> parts;
    std::size_t first = 0;
    while (first < step.size()) {
        Filling filling(budget);
        std::size_t count = 0;
        while (first + count < step.size() && filling.take(padded_lengths(step[first + count], frame, padding))) {
            ++count;
        }
        count = std::max<std::size_t>(count, 1);
        parts.push_back(make_batch(step.subspan(first, count), frame, static_cast<std::int32_t>(rows), padding));
        rows += parts.back().sentences;
        first += count;
    }
    return parts;
}

std::int64_t padded_area(const Example& example, const Frame& frame, const Padding& padding) {
    const PaddedLengths lengths = padded_lengths(example, frame, padding);
    return lengths.rows * std::max(lengths.source, lengths.target);
}

}  // namespace headscope
