#include "explore/classified.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "explore/editing_observer.h"
#include "infer/response_scores.h"
#include "infer/scored_text.h"
#include "observe/record_attention.h"

namespace headscope {

namespace {

// The class of the request, or the likeliest, and the others by their probabilities.
ExploredStep step_of(const std::vector<double>& classes, const CheckedRequest& request,
                     const std::vector<std::string>& labels) {
    std::vector<std::size_t> order(classes.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return classes[a] > classes[b]; });
    const auto given = request.fills.empty() ? order.front() : static_cast<std::size_t>(request.fills.front());
    ExploredStep step{.token = static_cast<std::int32_t>(given), .log_probability = classes[given]};
    step.rank = std::ranges::find(order, given) - order.begin() + 1;
    order.resize(std::min(order.size(), static_cast<std::size_t>(request.candidates)));
    for (const std::size_t one : order) {
        step.candidates.push_back({static_cast<std::int32_t>(one), labels[one], classes[one]});
    }
    return step;
}

}  // namespace

std::vector<std::vector<double>> class_scores(Context& ctx, const Model& model, const CheckedRequest& request,
                                              std::int64_t copies) {
    const ModelConfig& config = model.config();
    const ScoredTextEncoder encoder(config, nullptr, request.frame);
    const std::vector<Example> examples(static_cast<std::size_t>(copies), encoder.of_source(request.source.ids));
    const std::int64_t tokens = copies * Padding{.longest = config.max_length}.of(request.source_length);  // one batch
    std::vector<std::vector<double>> scores =
        label_scores(ctx, model, examples, request.frame,
                     {.source_tokens = tokens, .target_tokens = tokens, .longest = config.max_length});
    if (config.output.has_classes()) {
        for (std::vector<double>& of_one : scores) {
            of_one = log_probabilities_of(config.output, std::move(of_one));
        }
    }
    return scores;
}

Exploration explore_classes(Backend& backend, const LoadedModel& models, Compute compute,
                            const CheckedRequest& request) {
    using Clock = std::chrono::steady_clock;
    const Clock::time_point start = Clock::now();
    const ModelConfig& config = models.model().config;
    WeightCollector collector(request.sites);
    EditingObserver observer(request.edits, request.source_length, &collector);
    Context ctx{.backend = backend, .observer = &observer, .compute = compute};
    const std::vector<double> scores = class_scores(ctx, models.network(), request, 1).front();
    Exploration result;
    result.finished = true;
    if (!std::ranges::all_of(scores, [](double score) { return std::isfinite(score); })) {
        result.problem =
            "the scores of this picture are NaN or infinite: the model's weights are damaged, or training diverged";
        return result;
    }
    result.record = make_record(config, request.source, 0, nullptr, collector.fetch(backend));
    if (config.output.has_classes()) {
        const ExploredStep step = step_of(scores, request, config.output.labels);
        result.translation = config.output.labels[static_cast<std::size_t>(step.token)];
        result.record.target_out = {{.text = result.translation, .begins_word = true}};
        result.log_probability = result.score = step.log_probability;
        result.steps = {step};
    } else {
        result.translation = fmt::format("{:.4f}", scores.front());
    }
    result.seconds = result.seconds_to_first = std::chrono::duration<double>(Clock::now() - start).count();
    return result;
}

}  // namespace headscope
