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
        std::int64_t right = 0;  // the better response has the higher score
        double accuracy() const { return static_cast<double>(right) / static_cast<double>(pairs); }
    };

    std::int64_t prompts = 0;
    std::map<std::int32_t, Pairs> by_distance = {};  // of the ranks
    // Of choosing the better response of each pair, with the probability sigmoid of the difference of the scores.
    ForcedStatistics choices;

    // The responses of a prompt; as many scores as ranks. Equal ranks give no pair.
    void add(const std::vector<double>& scores, const std::vector<std::int32_t>& ranks);
};

}  // namespace headscope
