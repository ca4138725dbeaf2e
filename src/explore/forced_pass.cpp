#include "explore/forced_pass.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>

#include "data/batch.h"
#include "infer/filler.h"
#include "model/family.h"

namespace headscope {

namespace {

// Ranks the logits of one position on the host in double, in the order of LogSoftmaxTopK. False if the logits or the
// token's own logit are not finite. Tokens of `never` are no candidates.
bool explain(std::span<const double> logits, std::int32_t token, std::span<const std::int32_t> never, int candidates,
             ExploredStep& step) {
    double most = -std::numeric_limits<double>::infinity();
    for (const double logit : logits) {
        most = logit > most ? logit : most;  // skips NaN
    }
    double sum = 0.0;
    for (const double logit : logits) {
        sum += std::isnan(logit) ? 0.0 : std::exp(logit - most);
    }
    const auto is_candidate = [&](std::size_t i) {
        return std::find(never.begin(), never.end(), static_cast<std::int32_t>(i)) == never.end();
    };
    std::vector<std::int32_t> order;
    for (std::size_t i = 0; i < logits.size(); ++i) {
        if (!std::isnan(logits[i]) && is_candidate(i)) {
            order.push_back(static_cast<std::int32_t>(i));
        }
    }
    const std::size_t kept = std::min(order.size(), static_cast<std::size_t>(std::max(candidates, 1)));
    std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(kept), order.end(),
                      [&](std::int32_t a, std::int32_t b) {
                          const double of_a = logits[static_cast<std::size_t>(a)];
                          const double of_b = logits[static_cast<std::size_t>(b)];
                          return of_a != of_b ? of_a > of_b : a < b;
                      });
    if (token == kNoTarget && kept > 0) {
        token = order.front();
    }
    if (token == kNoTarget) {
        return false;
    }
    const double own = logits[static_cast<std::size_t>(token)];
    if (!std::isfinite(most) || !std::isfinite(own)) {
        return false;
    }
    const double log_sum = most + std::log(sum);
    step.token = token;
    step.log_probability = own - log_sum;
    step.rank = 1;
    for (std::size_t i = 0; i < logits.size(); ++i) {
        const bool before = logits[i] > own || (logits[i] == own && i < static_cast<std::size_t>(token));
        step.rank += before && is_candidate(i) ? 1 : 0;
    }
    for (std::size_t i = 0; i < std::min(kept, static_cast<std::size_t>(candidates)); ++i) {
        step.candidates.push_back({order[i], "", logits[static_cast<std::size_t>(order[i])] - log_sum});
    }
    return true;
}

}  // namespace

std::vector<std::int32_t> Predictions::labels(std::int64_t length) const {
    std::vector<std::int32_t> labels(static_cast<std::size_t>(length), kNoTarget);
    for (std::size_t i = given; i < tokens.size(); ++i) {
        labels[static_cast<std::size_t>(positions[i])] = tokens[i];
    }
    return labels;
}

std::size_t prompt_steps(const ModelConfig& config, const CheckedRequest& request) {
    return request.prompt - std::min(request.prompt, static_cast<std::size_t>(first_predicted(config)));
}

Predictions predictions_of(const ModelConfig& config, const CheckedRequest& request) {
    Predictions predictions;
    if (!request.target) {  // the class of a picture
        predictions.tokens = request.fills;
        predictions.positions.resize(request.fills.size());
        return predictions;
    }
    const RecordedText& target = *request.target;
    if (traits(config.architecture).fills_masks) {
        for (std::size_t i = 0; i < target.ids.size(); ++i) {
            if (target.ids[i] == config.frame.mask_id) {
                predictions.positions.push_back(static_cast<std::int64_t>(i) + 1);  // after the beginning
            }
        }
        predictions.tokens = request.fills;
        predictions.tokens.resize(predictions.positions.size(), kNoTarget);
        return predictions;
    }
    predictions.tokens = target.before.ids;
    predictions.tokens.insert(predictions.tokens.end(), target.ids.begin() + first_predicted(config), target.ids.end());
    if (target.ended) {
        predictions.tokens.push_back(config.frame.eos_id);
    }
    predictions.positions.resize(predictions.tokens.size());
    std::iota(predictions.positions.begin(), predictions.positions.end(), std::int64_t{0});
    const std::size_t given = target.before.ids.size() + prompt_steps(config, request);
    predictions.given = given < predictions.tokens.size() ? given : 0;
    return predictions;
}

std::string missing_token(const Predictions& predictions) {
    const std::vector<std::int32_t>& tokens = predictions.tokens;
    const bool is_missing = tokens.empty() || std::find(tokens.begin(), tokens.end(), kNoTarget) != tokens.end();
    return is_missing ? "there is no token whose probability could change: give the model a text or fills to predict"
                      : "";
}

std::vector<ExploredStep> forced_steps(Context& ctx, const Model& model, const Var& hidden,
                                       const Predictions& predictions, int candidates) {
    const std::int64_t width = model.config().d_model;
    const Var rows = hidden.reshape({hidden.shape()[1], width});
    return forced_steps(model.config(), predictions, candidates, [&](std::int64_t first, std::int64_t some) {
        const Var logits = model.logits(ctx, rows.narrow(0, first, some).reshape({1, some, width}));
        return to_host<double>(ctx.backend, logits.value());
    });
}

std::vector<ExploredStep> forced_steps(const ModelConfig& config, const Predictions& predictions, int candidates,
                                       const LogitRows& logits_of) {
    constexpr std::int64_t kRows = 64;  // at a time, to bound memory
    const std::int64_t vocabulary = config.target_vocabulary;
    const bool translates = traits(config.architecture).reads_source;
    const auto special = never_filled_in(config);
    const std::span<const std::int32_t> never =
        traits(config.architecture).fills_masks ? special : std::span<const std::int32_t>();
    const std::vector<std::int64_t>& positions = predictions.positions;
    std::vector<ExploredStep> steps;
    for (std::size_t first = 0; first < positions.size(); first = steps.size()) {
        std::int64_t some = 1;  // adjacent positions
        while (some < kRows && first + static_cast<std::size_t>(some) < positions.size() &&
               positions[first + static_cast<std::size_t>(some)] == positions[first] + some) {
            ++some;
        }
        const std::vector<double> values = logits_of(positions[first], some);
        for (std::int64_t row = 0; row < some; ++row) {
            const std::span<const double> own(values.data() + row * vocabulary, static_cast<std::size_t>(vocabulary));
            ExploredStep step{.position = positions[steps.size()]};
            if (!explain(own, predictions.tokens[steps.size()], never, candidates, step)) {
                return steps;
            }
            if (translates && steps.size() < predictions.given) {
                step.log_probability = 0.0;
                step.rank = 1;
            }
            steps.push_back(std::move(step));
        }
    }
    return steps;
}

}  // namespace headscope
