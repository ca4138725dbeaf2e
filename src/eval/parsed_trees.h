// Searches with models that write constituency trees, and the score of what they find.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "data/corpus.h"
#include "infer/translation.h"
#include "model/model_directory.h"
#include "trees/linearised.h"
#include "trees/tree_score.h"

namespace headscope {

// The paper's search for parsing (6.3): beam 21, length penalty 0.3.
DecodingOptions paper_tree_search();
inline constexpr int kTreeBeam = 21;
inline constexpr double kTreePenalty = 0.3;

// Error if the model does not write trees.
Terminals require_terminals(const ModelDirectory& model);

// Leaves out what cannot become a tree of the words, reads lines whole, and lists all that the beam holds. `model`, of
// these terminals, must outlive the search.
void keep_to_trees(DecodingOptions& options, const ModelDirectory& model, Terminals terminals);

// The tree of a list that such a search found, by best_restored().
Restored found_tree(const TextResult& found, const std::vector<std::string>& words,
                    const std::vector<std::string>* tags, Terminals terminals);

struct TreeScores {
    ScoreTotals all;
    std::map<std::int64_t, ScoreTotals> by_length;  // by the fewest words: 1, 11, 21, ...
};
// F1 in percent, 0 if no constituent is right.
double percent_of(const ScoreTotals& totals);

// Compares a tree for each pair's words with that of its sequence, by the rules of published results. A pair whose
// sequence is no tree of its words counts as skipped. `tree_of` makes the tree of a pair's words with these tags, the
// sequence's.
TreeScores score_trees_of(const ParallelText& pairs, Terminals terminals,
                          const std::function<Tree(std::size_t pair, const std::vector<std::string>& words,
                                                   const std::vector<std::string>& tags)>& tree_of);
// The same of what a search found for all pairs. A sentence that was not parsed has a tree without constituents.
TreeScores score_found_trees(const ParallelText& pairs, const std::vector<TextResult>& found, Terminals terminals);

}  // namespace headscope
