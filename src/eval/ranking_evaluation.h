// How often scores order responses as people did.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "eval/forced_statistics.h"

namespace headscope {

struct RankingEvaluation {
    struct Pairs {
        std::int64_t pairs = 0;
        double right = 0.0;  // the better response has the higher score; half of those of equal scores
        double accuracy() const { return right / static_cast<double>(pairs); }
    };

    std::int64_t prompts = 0;
    std::map<std::int32_t, Pairs> by_distance = {};  // of the ranks
    // Of choosing the better response of each pair, with the probability sigmoid of the difference of the scores.
    ForcedStatistics choices;

    double accuracy() const;  // of all pairs

    // The responses of a prompt; as many scores as ranks. Equal ranks give no pair.
    void add(const std::vector<double>& scores, const std::vector<std::int32_t>& ranks);
};

}  // namespace headscope
