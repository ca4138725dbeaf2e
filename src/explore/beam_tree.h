// The history of a beam search: every hypothesis that was ever in the beam, and why it ended.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "explore/exploration.h"
#include "infer/hypotheses.h"

namespace headscope {

class BeamTree {
public:
    using TextOf = std::function<std::string(std::int32_t token)>;

    // Takes the same options, rules and limit as the SentenceBeam.
    BeamTree(const SearchOptions& options, const TokenRules& rules, std::int64_t limit, TextOf text_of);

    // Call after each advance() of the beam.
    void follow(const SentenceBeam& beam);

    const std::vector<BeamNode>& nodes() const { return nodes_; }
    // The node that would win if the search ended now, or that won.
    std::size_t best() const { return best_; }
    // The nodes from the first token to this one; empty for the root.
    std::vector<std::size_t> path_to(std::size_t node) const;
    // The batch row that continues this node in the next step.
    std::size_t row_of(std::size_t node) const { return rows_[node]; }

private:
    void add(std::size_t parent, const SentenceBeam::Candidate& candidate);
    void explain_fall(std::size_t node, std::int64_t row, const SentenceBeam& beam);
    void choose_best();
    void end();

    SearchOptions options_;
    TokenRules rules_;
    std::int64_t limit_;
    TextOf text_of_;
    std::vector<BeamNode> nodes_;
    std::vector<std::size_t> rows_;
    std::vector<std::size_t> live_;
    std::vector<std::size_t> finished_;
    std::int64_t length_ = 0;
    std::size_t best_ = 0;
};

}  // namespace headscope
