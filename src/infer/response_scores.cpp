#include "infer/response_scores.h"

#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "data/batcher.h"
#include "data/device_batch.h"
#include "support/check.h"

namespace headscope {
namespace {

std::vector<double> scores_of(Context& ctx, const Model& model, const Batch& batch) {
    if (model.config().output.head != OutputHead::Scalar) {
        return log_probabilities(ctx, model, batch);
    }
    model.prepare(ctx.backend, batch.target.length);
    const DeviceGather ends = upload(ctx.backend, last_tokens(batch.target));
    const Var scores = model.text_scores(ctx, upload(ctx.backend, batch), ends);
    return to_host<double>(ctx.backend, scores.value());
}

}  // namespace

std::vector<double> log_probabilities(Context& ctx, const Model& model, const Batch& batch) {
    model.prepare(ctx.backend, batch.target.length);
    const DeviceBatch on_device = upload(ctx.backend, batch);
    const LossSums losses =
        model.token_loss(ctx, model.predicted_states(ctx, on_device), on_device.predicted, {.epsilon = 0.0F});
    const auto nll = to_host<double>(ctx.backend, losses.row_nll);
    const std::vector<std::int32_t> texts = texts_of_rows(batch);
    std::vector<double> sums(static_cast<std::size_t>(batch.sentences));
    for (std::size_t row = 0; row < nll.size(); ++row) {
        if (texts[row] != kNoTarget) {
            sums[static_cast<std::size_t>(texts[row])] -= nll[row];
        }
    }
    return sums;
}

std::vector<std::vector<double>> score_responses(Context& ctx, const Model& model, std::span<const Example> examples,
                                                 const Frame& frame, std::int64_t batch_tokens) {
    std::vector<Example> texts;
    std::vector<std::vector<double>> scores;
    for (const Example& example : examples) {
        const std::vector<Example> more = texts_of(example);
        texts.insert(texts.end(), more.begin(), more.end());
        scores.emplace_back(more.size());
    }
    const BatchBudget budget{
        .source_tokens = batch_tokens, .target_tokens = batch_tokens, .longest = model.config().max_length};
    std::vector<double> all;
    for (const Batch& batch : micro_batches(texts, frame, budget.padding(), budget)) {
        const std::vector<double> found = scores_of(ctx, model, batch);
        all.insert(all.end(), found.begin(), found.end());
    }
    auto next = all.begin();
    for (std::vector<double>& of_example : scores) {
        for (double& score : of_example) {
            score = *next++;
            if (!std::isfinite(score)) {
                throw Error(fmt::format("the score of a response is {}: the model is broken", score));
            }
        }
    }
    return scores;
}

}  // namespace headscope
