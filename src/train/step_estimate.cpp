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

// What a small step took, for a number of padded tokens of one side.
struct Point {
    double tokens = 0.0;
    double value = 0.0;
};

// The value at `tokens` on the line through both, of what neither falls nor grows more than in proportion there.
double extended(const Point& small, const Point& large, double tokens) {
    const double slope = (large.value - small.value) / (large.tokens - small.tokens);
    return std::clamp(large.value + slope * (tokens - large.tokens), large.value, large.value * tokens / large.tokens);
}

double padded_tokens(const Batch& batch) {
    return static_cast<double>(batch.sentences * std::max(batch.source.length, batch.target.length));
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
                batcher != nullptr ? rehearsal_.parts_of(batcher->next().examples) : typical_step();
            const double taken = rehearsal_.run(parts);
            if (i >= kWarm) {
                add(count_.of(parts), found.flops);
                found.seconds += taken / kTimed;
            }
        }
    }

    Point seconds_of(std::int64_t tokens) {
        const Batch batch = rehearsal_.sentences(tokens, step_.length);
        return {padded_tokens(batch), rehearsal_.run({batch})};
    }
    // Empty if the device has less memory.
    std::optional<Point> bytes_of(std::int64_t tokens) {
        const std::optional<std::size_t> bytes = rehearsal_.memory_of(tokens);
        return bytes ? std::optional(
                           Point{padded_tokens(rehearsal_.longest_sentences(tokens)), static_cast<double>(*bytes)})
                     : std::nullopt;
    }

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
    // Whole sentences of the greatest length.
    const std::int64_t small = padded_length(std::max(step.tokens / kShare, step.length),
                                             padded_length(options.max_length, options.length_multiple));
    if (2 * small > step.tokens) {
        estimating.measure_whole_steps(batcher, found);
        return found;
    }
    const std::optional<Point> bytes = estimating.bytes_of(small);
    const Point time = bytes ? estimating.seconds_of(small) : Point{};
    const auto tokens = static_cast<double>(step.tokens);
    if (!bytes || time.value * tokens / time.tokens * kWholeSteps <= patience) {
        estimating.measure_whole_steps(batcher, found);
        return found;
    }
    const bool small_parts = step.part_tokens <= 2 * small;
    const std::optional<Point> more_bytes = small_parts ? std::nullopt : estimating.bytes_of(2 * small);
    found.estimated = true;
    found.how = fmt::format("estimated from steps of {} and {} tokens", small, 2 * small);
    found.flops = estimating.flops_of_a_step();
    found.seconds = extended(time, estimating.seconds_of(2 * small), tokens);
    if (small_parts) {
        found.bytes = rehearsal.memory_of(step.part_tokens);
    } else if (more_bytes) {
        found.bytes = static_cast<std::size_t>(extended(*bytes, *more_bytes, static_cast<double>(step.part_tokens)));
    }
    return found;
}

}  // namespace headscope
