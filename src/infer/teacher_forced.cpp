#include "infer/teacher_forced.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <numeric>
#include <span>
#include <utility>

#include "backend/ops/elementwise.h"
#include "backend/ops/loss.h"
#include "backend/ops/search.h"
#include "data/batch.h"
#include "data/device_batch.h"
#include "infer/loaded_model.h"
#include "infer/next_tokens.h"
#include "support/check.h"

namespace headscope {

namespace {

// For each row of Batch::predicted, including padding.
struct ForcedPositions {
    std::vector<double> losses;        // -log P of the target's token
    std::vector<double> best;          // log P of the k likeliest tokens, best first
    std::vector<std::int32_t> tokens;  // these tokens
    std::vector<double> gaps;          // ForcedToken::logit_gap; empty unless they are measured
};

// Hidden states before the projection of the rows to predict, [rows, d_model].
Var states_of(Context& ctx, const Model& model, const DeviceBatch& batch) {
    const std::int64_t rows = batch.predicted.classes.elements();
    return model.predicted_states(ctx, batch).reshape({rows, model.config().d_model});
}

// Logits of rows [first, first + some): [some, vocabulary], divided by the temperature.
Tensor logits_of(Context& ctx, const Model& model, const Var& states, std::int64_t first, std::int64_t some,
                 double temperature) {
    const Var chunk = states.narrow(0, first, some).reshape({1, some, model.config().d_model});
    const Tensor logits = model.logits(ctx, chunk).value().reshape({some, model.config().target_vocabulary});
    if (temperature != 1.0) {
        ctx.backend.run(AddScaled{.a = logits, .out = logits, .alpha = static_cast<float>(1.0 / temperature)});
    }
    return logits;
}

// Logits differ as their log probabilities do. `mean`: of all `classes` of these, the largest too.
double gap_of(double best, double mean, std::size_t classes) {
    return (best - mean) * static_cast<double>(classes) / static_cast<double>(classes - 1);
}

// Computed on the device, with the logits of a few rows at a time.
ForcedPositions score_positions(Context& ctx, const Model& model, const DeviceBatch& batch, const ForcedLimits& limits,
                                std::int64_t logit_rows, std::int64_t k) {
    Backend& backend = ctx.backend;
    const Var states = states_of(ctx, model, batch);
    const std::int64_t rows = batch.predicted.classes.elements();
    const Tensor targets = batch.predicted.classes.reshape({rows});
    const Tensor losses = backend.empty({rows}, backend.full_dtype());
    const Tensor spread = backend.empty({rows}, backend.full_dtype());  // the mean of the loss and that of all tokens
    const Tensor best = backend.empty({rows, k}, backend.full_dtype());
    const Tensor tokens = backend.empty({rows, k}, DType::I32);
    for (std::int64_t first = 0; first < rows; first += logit_rows) {
        const std::int64_t some = std::min(logit_rows, rows - first);
        const Tensor logits = logits_of(ctx, model, states, first, some, limits.temperature);
        backend.run(SmoothedCrossEntropy{.logits = logits,
                                         .targets = targets.narrow(0, first, some),
                                         .loss = spread.narrow(0, first, some),
                                         .nll = losses.narrow(0, first, some),
                                         .epsilon = limits.logit_gaps ? 0.5F : 0.0F});
        backend.run(LogSoftmaxTopK{
            .logits = logits, .values = best.narrow(0, first, some), .indices = tokens.narrow(0, first, some)});
    }
    ForcedPositions found{
        to_host<double>(backend, losses), to_host<double>(backend, best), to_host<std::int32_t>(backend, tokens), {}};
    if (limits.logit_gaps) {
        found.gaps = to_host<double>(backend, spread);
        const auto classes = static_cast<std::size_t>(model.config().target_vocabulary);
        for (std::size_t row = 0; row < found.gaps.size(); ++row) {
            const double mean = found.losses[row] - 2.0 * found.gaps[row];
            found.gaps[row] = gap_of(found.best[row * static_cast<std::size_t>(k)], mean, classes);
        }
    }
    return found;
}

// The k likeliest tokens, best first; of equal ones the smaller.
std::vector<std::int32_t> likeliest_of(std::span<const double> chances, std::int64_t k) {
    std::vector<std::int32_t> order(chances.size());
    std::iota(order.begin(), order.end(), 0);
    std::partial_sort(order.begin(), order.begin() + k, order.end(), [&](std::int32_t a, std::int32_t b) {
        const double of_a = chances[static_cast<std::size_t>(a)];
        const double of_b = chances[static_cast<std::size_t>(b)];
        return of_a != of_b ? of_a > of_b : a < b;
    });
    order.resize(static_cast<std::size_t>(k));
    return order;
}

// The same for an ensemble.
ForcedPositions score_positions(Context& ctx, const std::vector<const Model*>& models, const DeviceBatch& batch,
                                const std::vector<std::int32_t>& targets, const ForcedLimits& limits,
                                std::int64_t logit_rows, std::int64_t k) {
    const auto rows = static_cast<std::int64_t>(targets.size());
    std::vector<Var> states;
    std::transform(models.begin(), models.end(), std::back_inserter(states),
                   [&](const Model* model) { return states_of(ctx, *model, batch); });
    const auto classes = static_cast<std::size_t>(models.front()->config().target_vocabulary);
    ForcedPositions found;
    for (std::int64_t first = 0; first < rows; first += logit_rows) {
        const std::int64_t some = std::min(logit_rows, rows - first);
        std::vector<double> mean(static_cast<std::size_t>(some) * classes);
        for (std::size_t i = 0; i < models.size(); ++i) {
            std::vector<double> logits =
                to_host<double>(ctx.backend, logits_of(ctx, *models[i], states[i], first, some, limits.temperature));
            for (std::size_t row = 0; row < static_cast<std::size_t>(some); ++row) {
                log_softmax(std::span(logits).subspan(row * classes, classes));
            }
            std::transform(logits.begin(), logits.end(), mean.begin(), mean.begin(), [&](double logit, double sum) {
                return sum + std::exp(logit) / static_cast<double>(models.size());
            });
        }
        for (std::size_t row = 0; row < static_cast<std::size_t>(some); ++row) {
            const std::span<const double> chances = std::span(mean).subspan(row * classes, classes);
            const std::int32_t target = targets[static_cast<std::size_t>(first) + row];
            found.losses.push_back(target == kNoTarget ? 0.0 : -std::log(chances[static_cast<std::size_t>(target)]));
            for (const std::int32_t token : likeliest_of(chances, k)) {
                found.best.push_back(std::log(chances[static_cast<std::size_t>(token)]));
                found.tokens.push_back(token);
            }
            if (limits.logit_gaps) {
                const double logs = std::transform_reduce(chances.begin(), chances.end(), 0.0, std::plus<>(),
                                                          [](double chance) { return std::log(chance); });
                found.gaps.push_back(gap_of(found.best[found.best.size() - static_cast<std::size_t>(k)],
                                            logs / static_cast<double>(classes), classes));
            }
        }
    }
    return found;
}

// One vector per sentence of the batch, without positions that have no target.
std::vector<std::vector<ForcedToken>> with_targets(const ForcedPositions& found, const Batch& batch, int alternatives) {
    std::vector<std::vector<ForcedToken>> sentences(static_cast<std::size_t>(batch.sentences));
    const std::vector<std::int32_t>& rows = batch.predicted.rows;
    const std::vector<std::int32_t>& targets = batch.predicted.classes;
    for (std::size_t row = 0; row < targets.size(); ++row) {
        if (targets[row] != kNoTarget) {
            const std::size_t at = rows.empty() ? row : static_cast<std::size_t>(rows[row]);
            const std::size_t best = row * (found.tokens.size() / targets.size());
            ForcedToken token{-found.losses[row], found.best[best], found.tokens[best] == targets[row]};
            for (std::size_t i = best; i < best + static_cast<std::size_t>(alternatives); ++i) {
                token.alternatives.push_back({found.tokens[i], found.best[i]});
            }
            token.logit_gap = found.gaps.empty() ? 0.0 : found.gaps[row];
            sentences[at / static_cast<std::size_t>(batch.target.length)].push_back(std::move(token));
        }
    }
    return sentences;
}

}  // namespace

ForcedTargets::ForcedTargets(Context& ctx, std::vector<const Model*> models, std::span<const Example> pairs,
                             const ForcedLimits& limits, Frame frame)
    : ForcedSession(pairs.size()),
      ctx_(ctx),
      models_(std::move(models)),
      pairs_(pairs),
      limits_(limits),
      frame_(std::move(frame)) {
    HEADSCOPE_CHECK(!models_.empty() && limits_.logit_rows > 0, "no models, or logit_rows is not positive");
    longest_ = models_.front()->config().max_length;
    for (const Model* model : models_) {
        require_left_to_right(model->config());
        longest_ = std::min<std::int64_t>(longest_, model->config().max_length);
    }
    std::vector<std::int64_t> lengths;
    for (const Example& pair : pairs_) {
        const bool labelled = !pair.labels.empty();
        lengths.push_back(std::max(labelled ? 0 : frame_.source_positions(std::ssize(pair.source)),
                                   std::ssize(pair.target) + (labelled ? 0 : frame_.around_target())));
        HEADSCOPE_CHECK(lengths.back() <= longest_, "a pair is longer than the model's max_length");
    }
    batches_ = batches_by_length(lengths, limits_.batch_tokens);
}

bool ForcedTargets::step() {
    if (next_ < batches_.size()) {
        force(batches_[next_], limits_.logit_rows);
        ++next_;
    }
    return next_ < batches_.size();
}

// As one batch, or in halves if the device's memory is too small.
void ForcedTargets::force(std::span<const std::size_t> members, std::int64_t logit_rows) {
    try {
        force_at_once(members, logit_rows);
    } catch (const OutOfMemory&) {
        const std::size_t half = members.size() / 2;
        const std::int64_t most = std::ssize(pairs_[members.front()].target) + frame_.around_target();
        const std::int64_t rows = std::min(logit_rows, most);
        if (half > 0) {
            force(members.first(half), logit_rows);
            force(members.subspan(half), logit_rows);
        } else if (rows > 1) {
            force(members, rows / 2);  // the logits may be too large
        } else {
            throw;
        }
    }
}

void ForcedTargets::force_at_once(std::span<const std::size_t> members, std::int64_t logit_rows) {
    std::vector<const Example*> some;
    some.reserve(members.size());
    for (const std::size_t member : members) {
        some.push_back(&pairs_[member]);
    }
    const Batch batch = make_batch(some, frame_, 0, {.longest = longest_});
    const DeviceBatch on_device = upload(ctx_.backend, batch);
    const std::int64_t k =
        std::clamp<std::int64_t>(limits_.alternatives, 1, models_.front()->config().target_vocabulary);
    const ForcedPositions found =
        models_.size() == 1
            ? score_positions(ctx_, *models_.front(), on_device, limits_, logit_rows, k)
            : score_positions(ctx_, models_, on_device, batch.predicted.classes, limits_, logit_rows, k);
    auto tokens = with_targets(found, batch, static_cast<int>(std::min<std::int64_t>(k, limits_.alternatives)));
    for (std::size_t i = 0; i < members.size(); ++i) {
        results_[members[i]] = std::move(tokens[i]);
    }
    tokens_ += batch.sentences * (batch.source.length + batch.target.length);
}

std::vector<std::vector<ForcedToken>> force_targets(Context& ctx, const std::vector<const Model*>& models,
                                                    std::span<const Example> pairs, const ForcedLimits& limits,
                                                    const Frame& frame) {
    ForcedTargets session(ctx, models, pairs, limits, frame);
    finish(session);
    return session.take();
}

}  // namespace headscope
