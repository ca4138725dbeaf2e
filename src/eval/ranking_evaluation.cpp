#include "eval/ranking_evaluation.h"

#include <cmath>
#include <cstddef>

#include "support/check.h"

namespace headscope {

namespace {

double log_sigmoid(double x) {
    return x >= 0.0 ? -std::log1p(std::exp(-x)) : x - std::log1p(std::exp(x));
}

}  // namespace

double RankingEvaluation::accuracy() const {
    Pairs all;
    for (const auto& [distance, pairs] : by_distance) {
        all.pairs += pairs.pairs;
        all.right += pairs.right;
    }
    return all.accuracy();
}

void RankingEvaluation::add(const std::vector<double>& scores, const std::vector<std::int32_t>& ranks) {
    HEADSCOPE_CHECK(scores.size() == ranks.size(), "each response has a score and a rank");
    ++prompts;
    for (std::size_t better = 0; better < ranks.size(); ++better) {
        for (std::size_t worse = 0; worse < ranks.size(); ++worse) {
            const std::int32_t distance = ranks[worse] - ranks[better];
            if (distance <= 0) {
                continue;
            }
            const double margin = scores[better] - scores[worse];
            Pairs& pairs = by_distance[distance];
            ++pairs.pairs;
            pairs.right += margin > 0.0 ? 1.0 : margin == 0.0 ? 0.5 : 0.0;
            choices.add({.log_probability = log_sigmoid(margin),
                         .best_log_probability = log_sigmoid(std::abs(margin)),
                         .likeliest = margin > 0.0});
        }
    }
}

}  // namespace headscope
