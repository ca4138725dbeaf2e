#include "train/step_estimate.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "data/batch.h"
#include "train/step_options.h"

namespace headscope {
namespace {

constexpr int kWarm = 2;  // whole steps, to allocate memory and start threads
constexpr int kTimed = 5;

// The value at `x` on the line through (a, at_a) and (2 a, at_2a), of what neither falls nor more than doubles there.
double extended(double a, double at_a, double at_2a, double x) {
    return std::clamp(at_a + (at_2a - at_a) * (x - a) / a, at_2a, at_2a * x / (2.0 * a));
}

class Estimating {
public:
    Estimating(StepRehearsal& rehearsal, const TrainingOptions& options, const TypicalStep& step)
        : rehearsal_(rehearsal), options_(options), step_(step), count_(rehearsal.flops()) {}

    std::vector<Batch> typical_step() const {
        std::vector<Batch> parts;
        for (std::int64_t left = step_.tokens; left > 0; left -= step_.part_tokens) {
            parts.push_back(rehearsal_.sentences(std::min(left, step_.part_tokens), step_.length));
        }
        return parts;
    }

    // Mean over some of the first steps, which are in random order.
    void measure_whole_steps(Batcher* batcher, StepEstimate& found) {
        found.how = fmt::format("mean of {}", kTimed);
        found.bytes = rehearsal_.memory_of(step_.part_tokens);
        for (int i = 0; i < kWarm + kTimed; ++i) {
            const std::vector<Batch> parts =
                batcher != nullptr ? batcher->micro_batches(batcher->next(), part_budget(options_)) : typical_step();
            const double taken = rehearsal_.run(parts);
            if (i >= kWarm) {
                add(count_.of(parts), found.flops);
                found.seconds += taken / kTimed;
            }
        }
    }

    double seconds_of(std::int64_t tokens) { return rehearsal_.run({rehearsal_.sentences(tokens, step_.length)}); }

    StepFlops flops_of_a_step() const { return count_.of(typical_step()); }

private:
    static void add(const StepFlops& one, StepFlops& mean) {
        mean.weights += one.weights / kTimed;
        mean.attention += one.attention / kTimed;
        mean.optimizer = one.optimizer;
    }

    StepRehearsal& rehearsal_;
    const TrainingOptions& options_;
    TypicalStep step_;
    TrainingFlops count_;
};

std::int64_t pieces_of_a_sentence(const TrainingData* data) {
    constexpr std::int64_t kOfNews = 30;  // assumed, a usual number for news
    if (data == nullptr) {
        return kOfNews;
    }
    const auto examples = static_cast<std::int64_t>(data->train->epoch(0).examples());
    return std::max<std::int64_t>(data->train->predicted_tokens() / std::max<std::int64_t>(examples, 1), 1);
}

}  // namespace

TypicalStep typical_step(const TrainingOptions& options, const TrainingData* data) {
    const BatchBudget part = micro_budget(options);
    return {.tokens = std::min(options.source_tokens, options.target_tokens),
            .part_tokens = std::max(part.source_tokens, part.target_tokens),
            .length = pieces_of_a_sentence(data)};
}

StepEstimate estimate_step(StepRehearsal& rehearsal, const TrainingOptions& options, const TypicalStep& step,
                           Batcher* batcher, double patience) {
    constexpr std::int64_t kShare = 64;
    constexpr double kWholeSteps = kWarm + kTimed + 1;  // one more for the memory
    Estimating estimating(rehearsal, options, step);
    StepEstimate found;
    const std::int64_t small = std::max(
        step.tokens / kShare, padded_length(std::max(options.max_length, step.length), options.length_multiple));
    const auto whole = static_cast<double>(step.tokens);
    const auto one = static_cast<double>(small);
    if (2 * small > step.tokens) {
        estimating.measure_whole_steps(batcher, found);
        return found;
    }
    const std::optional<std::size_t> bytes = rehearsal.memory_of(small);
    const double seconds = bytes ? estimating.seconds_of(small) : 0.0;
    if (seconds * whole / one * kWholeSteps <= patience) {
        estimating.measure_whole_steps(batcher, found);
        return found;
    }
    const std::optional<std::size_t> twice = rehearsal.memory_of(2 * small);
    found.estimated = true;
    found.how = fmt::format("estimated from steps of {} and {} tokens", small, 2 * small);
    found.flops = estimating.flops_of_a_step();
    found.seconds = extended(one, seconds, estimating.seconds_of(2 * small), whole);
    if (twice) {
        found.bytes = static_cast<std::size_t>(extended(one, static_cast<double>(*bytes), static_cast<double>(*twice),
                                                        static_cast<double>(step.part_tokens)));
    }
    return found;
}

}  // namespace headscope
