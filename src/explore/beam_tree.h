// Beam search remembered: every hypothesis that was ever in the beam, and why it ended.
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

    // As the SentenceBeam was made.
    BeamTree(const SearchOptions& options, const TokenRules& rules, std::int64_t limit, TextOf text_of);

    // After each advance() of the beam.
    void follow(const SentenceBeam& beam);

    const std::vector<BeamNode>& nodes() const { return nodes_; }
    // The one that would win if the search ended now; once it has ended, the one that won.
    std::size_t best() const { return best_; }
    // From the first token to this node; empty for the root.
    std::vector<std::size_t> path_to(std::size_t node) const;
    // The row of this node in the step that it was read in, were it to go on.
    std::size_t row_of(std::size_t node) const { return rows_[node]; }

private:
    void add(std::size_t parent, const SentenceBeam::Candidate& candidate);
    void explain_fall(std::size_t node, std::int64_t row, const SentenceBeam& beam);
    void choose_best();
    void end();

    SearchOptions options_;
    std::int32_t eos_;
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
