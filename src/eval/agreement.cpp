#include "eval/agreement.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace headscope {

std::optional<Divergence> find_divergence(std::span<const std::int32_t> first, std::span<const std::int32_t> second) {
    const auto [a, b] = std::mismatch(first.begin(), first.end(), second.begin(), second.end());
    if (a == first.end() && b == second.end()) {
        return std::nullopt;
    }
    Divergence divergence{.position = static_cast<std::size_t>(a - first.begin()), .candidates = {}};
    if (a != first.end()) {
        divergence.candidates[0] = *a;
    }
    if (b != second.end()) {
        divergence.candidates[1] = *b;
    }
    return divergence;
}

double score_gap(const Divergence& divergence, const std::array<CandidateScores, 2>& by_device) {
    double gap = 0.0;
    for (const CandidateScores& scores : by_device) {
        const double apart = std::abs(scores[0] - scores[1]);
        if (!divergence.candidates[0] || !divergence.candidates[1] || std::isnan(apart)) {
            return std::numeric_limits<double>::infinity();
        }
        gap = std::max(gap, apart);
    }
    return gap;
}

void Agreement::add_identical(double first_score, double second_score) {
    ++identical;
    const double drift = std::abs(first_score - second_score);
    // std::max would hide a NaN.
    score_drift = std::isnan(drift) ? std::numeric_limits<double>::infinity() : std::max(score_drift, drift);
}

std::size_t Agreement::ties(double tie) const {
    return static_cast<std::size_t>(
        std::count_if(differences.begin(), differences.end(), [tie](const Difference& one) { return one.gap <= tie; }));
}

}  // namespace headscope
