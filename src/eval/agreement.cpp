#include "eval/agreement.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace headscope {

std::optional<Parting> find_parting(std::span<const std::int32_t> first, std::span<const std::int32_t> second) {
    const auto [a, b] = std::mismatch(first.begin(), first.end(), second.begin(), second.end());
    if (a == first.end() && b == second.end()) {
        return std::nullopt;
    }
    Parting parting{.position = static_cast<std::size_t>(a - first.begin()), .candidates = {}};
    if (a != first.end()) {
        parting.candidates[0] = *a;
    }
    if (b != second.end()) {
        parting.candidates[1] = *b;
    }
    return parting;
}

double score_gap(const Parting& parting, const std::array<CandidateScores, 2>& by_device) {
    double gap = 0.0;
    for (const CandidateScores& scores : by_device) {
        const double apart = std::abs(scores[0] - scores[1]);
        if (!parting.candidates[0] || !parting.candidates[1] || std::isnan(apart)) {
            return std::numeric_limits<double>::infinity();
        }
        gap = std::max(gap, apart);
    }
    return gap;
}

void Agreement::add_identical(double first_score, double second_score) {
    ++identical;
    const double drift = std::abs(first_score - second_score);
    // A NaN is no small difference, and std::max would hide it.
    score_drift = std::isnan(drift) ? std::numeric_limits<double>::infinity() : std::max(score_drift, drift);
}

std::size_t Agreement::ties(double tie) const {
    return static_cast<std::size_t>(
        std::count_if(differences.begin(), differences.end(), [tie](const Difference& one) { return one.gap <= tie; }));
}

}  // namespace headscope
