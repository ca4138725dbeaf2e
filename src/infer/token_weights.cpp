#include "infer/token_weights.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "infer/next_tokens.h"

namespace headscope {

namespace {

using TokenList = std::vector<std::int32_t>;

constexpr double kNever = -std::numeric_limits<double>::infinity();

struct WeightStep {
    const SearchOptions& options;
    const TokenRules& rules;
    const SearchTask& task;
    const TokenList& tokens;     // of the output
    const TokenList& read;       // with what was read before them
    const TokenList& forbidden;  // next
    std::vector<double>& scores;

    double& score(std::int32_t token) const { return scores[static_cast<std::size_t>(token)]; }
};

// One option that changes scores, and when it is set.
struct Weight {
    bool (*is_set)(const SearchOptions& options);
    void (*change)(const WeightStep& step);
};

void add_bias(const WeightStep& step) {
    std::vector<double> sums(step.scores.size());
    for (const auto& [tokens, bias] : step.options.sequence_bias) {
        const auto before = std::ssize(tokens) - 1;
        if (before <= std::ssize(step.read) && std::equal(tokens.begin(), tokens.end() - 1, step.read.end() - before)) {
            sums[static_cast<std::size_t>(tokens.back())] += bias;
        }
    }
    std::transform(sums.begin(), sums.end(), step.scores.begin(), step.scores.begin(), std::plus());
}

// Each token once, however often it occurs.
void penalise(const WeightStep& step, TokenList seen, double penalty) {
    std::sort(seen.begin(), seen.end());
    seen.erase(std::unique(seen.begin(), seen.end()), seen.end());
    for (const std::int32_t token : seen) {
        if (static_cast<std::size_t>(token) >= step.scores.size()) {
            break;  // a source may have more pieces
        }
        double& score = step.score(token);
        score = score < 0.0 ? score * penalty : score / penalty;
    }
}

void forbid(const WeightStep& step) {
    for (const std::int32_t token : step.forbidden) {
        step.score(token) = kNever;
    }
}

void let_ends_grow(const WeightStep& step) {
    const std::int64_t count = std::ssize(step.tokens) - step.options.end_growth->start;
    const auto grow = [&](std::int32_t end) {
        if (double& score = step.score(end); count > 0 && std::isfinite(score)) {
            score += std::abs(score) * (std::pow(step.options.end_growth->factor, static_cast<double>(count)) - 1.0);
        }
    };
    grow(step.rules.eos);
    std::for_each(step.rules.other_ends.begin(), step.rules.other_ends.end(), grow);
}

bool always(const SearchOptions&) {
    return true;
}

constexpr std::array<Weight, 6> kWeights = {{
    {[](const SearchOptions& options) { return !options.sequence_bias.empty(); }, add_bias},
    {[](const SearchOptions& options) { return options.source_repetition_penalty != 1.0; },
     [](const WeightStep& step) { penalise(step, step.task.source, 1.0 / step.options.source_repetition_penalty); }},
    {[](const SearchOptions& options) { return options.repetition_penalty != 1.0; },
     [](const WeightStep& step) { penalise(step, step.read, step.options.repetition_penalty); }},
    {always, forbid},
    {[](const SearchOptions& options) { return options.end_growth.has_value(); }, let_ends_grow},
    {[](const SearchOptions& options) { return options.renormalize && options.beam > 1; },
     [](const WeightStep& step) { log_softmax(std::span<double>(step.scores)); }},
}};

}  // namespace

bool weighs_tokens(const SearchOptions& options, std::size_t forbidden) {
    // Without another change the last one matters only if something was forbidden, which by itself needs no weights.
    const bool changes = std::any_of(kWeights.begin(), kWeights.end() - 1, [&](const Weight& weight) {
        return weight.is_set != always && weight.is_set(options);
    });
    return changes || (forbidden > 0 && kWeights.back().is_set(options));
}

std::vector<double> weighed_tokens(std::span<const float> log_probabilities, double log_sum,
                                   const SearchOptions& options, const TokenRules& rules, const SearchTask& task,
                                   const TokenList& tokens, const TokenList& forbidden) {
    const double higher = options.beam == 1 ? log_sum : 0.0;
    std::vector<double> scores(log_probabilities.size());
    std::transform(log_probabilities.begin(), log_probabilities.end(), scores.begin(),
                   [&](float value) { return static_cast<double>(value) + higher; });
    const TokenList read = read_before(rules, task, tokens);
    for (const Weight& weight : kWeights) {
        if (weight.is_set(options)) {
            weight.change({options, rules, task, tokens, read, forbidden, scores});
        }
    }
    std::transform(scores.begin(), scores.end(), scores.begin(), [&](double score) { return score - higher; });
    return scores;
}

}  // namespace headscope
