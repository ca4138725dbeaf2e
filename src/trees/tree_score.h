// Compares trees with gold trees as EVALB does (Sekine and Collins, 1997; Ellis, 2006).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trees/score_rules.h"
#include "trees/tree.h"

namespace headscope {

// Error: the words differ. Skipped: there is no tree to compare.
enum class ScoreStatus : std::uint8_t { Valid, Error, Skipped };

// Counts of one sentence; all are 0 unless it is valid.
struct TreeScore {
    std::int64_t length = 0;  // of the gold sentence
    ScoreStatus status = ScoreStatus::Valid;
    std::int64_t matched = 0, gold = 0, test = 0;  // constituents
    std::int64_t crossing = 0;                     // constituents that overlap a gold one without nesting
    std::int64_t words = 0, tags = 0;              // without deleted ones; those with the right tag
    std::string problem = {};                      // of an error

    bool exact() const { return matched == gold && gold == test; }
};

// A sentence is a list of trees, usually one; it may be empty. Labels of constituents end before their first - or =.
// Equal constituents count as often as both trees have them. A constituent is crossing if it overlaps any gold one.
TreeScore score_trees(const std::vector<Tree>& gold, const std::vector<Tree>& test, const ScoreRules& rules);

// Sums over sentences.
struct ScoreTotals {
    std::int64_t sentences = 0, errors = 0, skipped = 0, exact = 0, no_crossing = 0, few_crossing = 0;
    std::int64_t matched = 0, gold = 0, test = 0, crossing = 0, words = 0, tags = 0;

    void add(const TreeScore& score);
    std::int64_t valid() const { return sentences - errors - skipped; }
    // In percent, 0 if there is nothing to count; f1() is NaN if both others are 0, as EVALB's.
    double recall() const;
    double precision() const;
    double f1() const;
    double tag_accuracy() const;
    // A share of the valid sentences in percent, 0 if there are none.
    double share(std::int64_t count) const;
};

}  // namespace headscope
