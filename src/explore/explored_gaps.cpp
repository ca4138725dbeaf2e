#include "explore/explored_gaps.h"

#include <algorithm>

#include "infer/gap_filler.h"
#include "support/check.h"

namespace headscope {

std::vector<ExploredStep> explored_gaps(const Tokenizer& tokenizer, const std::vector<std::int32_t>& sentinels,
                                        const std::vector<ScoredOutput>& outputs) {
    if (sentinels.empty()) {
        return {};
    }
    HEADSCOPE_CHECK(!outputs.empty(), "an output fills the gaps");
    std::vector<std::vector<GapCandidate>> found;
    for (const ScoredOutput& output : outputs) {
        add_gap_candidates(tokenizer, sentinels, output.tokens, output.log_probabilities, found);
    }
    std::vector<ExploredStep> gaps;
    for (std::size_t gap = 0; gap < found.size(); ++gap) {
        const auto written = outputs.front().tokens;
        const auto sentinel = std::ranges::find(written, sentinels[gap]);
        ExploredStep step{.token = 0,
                          .log_probability = found[gap].front().log_probability,
                          .rank = 1,
                          .position = sentinel == written.end() ? -1 : sentinel - written.begin()};
        for (const GapCandidate& candidate : found[gap]) {
            step.candidates.push_back(
                {static_cast<std::int32_t>(step.candidates.size()), candidate.text, candidate.log_probability});
        }
        gaps.push_back(std::move(step));
    }
    return gaps;
}

std::vector<ExploredStep> explored_gaps(const Tokenizer& tokenizer, const std::vector<std::int32_t>& sentinels,
                                        const std::vector<ExploredStep>& output) {
    std::vector<std::int32_t> tokens;
    std::vector<double> log_probabilities;
    for (const ExploredStep& step : output) {
        tokens.push_back(step.token);
        log_probabilities.push_back(step.log_probability);
    }
    return explored_gaps(tokenizer, sentinels, {{tokens, log_probabilities}});
}

}  // namespace headscope
