// Scores of trees as text: the report of EVALB, and a table by length.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "trees/tree_score.h"

namespace headscope {

class ScoreReport {
public:
    // Sentences of at most `cutoff` words have a summary of their own.
    explicit ScoreReport(std::int64_t cutoff) : cutoff_(cutoff) {}

    void add(const TreeScore& score);
    const ScoreTotals& all() const { return all_; }

    // What EVALB prints: a line for each sentence, and two summaries.
    std::string evalb() const;
    // All sentences, those up to the cutoff, and tens of lengths: one line each.
    std::string table() const;
    // {"all": {"sentences": 24, ...}, "up to 40": {...}, "1-10": {...}, ...}
    nlohmann::ordered_json json() const;

private:
    std::map<std::int64_t, ScoreTotals> tens() const;
    std::int64_t cutoff_;
    ScoreTotals all_, short_;
    std::vector<TreeScore> scores_;
};

}  // namespace headscope
