#include "infer/response_scores.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

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

// Of each row to predict.
Tensor losses_of(Context& ctx, const Model& model, const DeviceBatch& batch) {
    return model.token_loss(ctx, model.predicted_states(ctx, batch), batch.predicted, {.epsilon = 0.0F}).row_nll;
}

Tensor values_of(Context& ctx, const Model& model, const DeviceBatch& batch) {
    return model.label_scores(ctx, batch).value();
}

using NumbersOfRows = Tensor (*)(Context&, const Model&, const DeviceBatch&);

std::vector<std::vector<double>> numbers_of_labels(Context& ctx, const Model& model, const Batch& batch,
                                                   NumbersOfRows numbers_of) {
    model.prepare(ctx.backend, std::max(batch.source.length, batch.target.length));
    const auto numbers = to_host<double>(ctx.backend, numbers_of(ctx, model, upload(ctx.backend, batch)));
    const std::vector<std::int32_t> texts = texts_of_rows(batch);
    std::vector<std::vector<double>> found(static_cast<std::size_t>(batch.sentences));
    const std::size_t each = numbers.size() / texts.size();
    for (std::size_t row = 0; row < texts.size(); ++row) {
        if (texts[row] != kNoTarget) {
            std::vector<double>& of_text = found[static_cast<std::size_t>(texts[row])];
            const auto first = numbers.begin() + static_cast<std::ptrdiff_t>(row * each);
            of_text.insert(of_text.end(), first, first + static_cast<std::ptrdiff_t>(each));
        }
    }
    return found;
}

std::vector<std::vector<double>> numbers_of_texts(Context& ctx, const Model& model, std::span<const Example> texts,
                                                  const Frame& frame, const BatchBudget& budget,
                                                  NumbersOfRows numbers_of) {
    std::vector<std::vector<double>> found;
    for (const Batch& batch : micro_batches(texts, frame, budget.padding(), budget)) {
        std::ranges::move(numbers_of_labels(ctx, model, batch, numbers_of), std::back_inserter(found));
    }
    return found;
}

}  // namespace

std::vector<double> log_probabilities(Context& ctx, const Model& model, const Batch& batch) {
    std::vector<double> sums;
    for (const std::vector<double>& nll : numbers_of_labels(ctx, model, batch, losses_of)) {
        sums.push_back(-std::accumulate(nll.begin(), nll.end(), 0.0));
    }
    return sums;
}

std::vector<std::vector<double>> label_losses(Context& ctx, const Model& model, std::span<const Example> texts,
                                              const Frame& frame, const BatchBudget& budget) {
    return numbers_of_texts(ctx, model, texts, frame, budget, losses_of);
}

std::vector<std::vector<double>> label_scores(Context& ctx, const Model& model, std::span<const Example> texts,
                                              const Frame& frame, const BatchBudget& budget) {
    return numbers_of_texts(ctx, model, texts, frame, budget, values_of);
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
        }
    }
    return scores;
}

}  // namespace headscope
