#include "explore/explored_gaps.h"

#include <algorithm>
#include <limits>

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
        const bool fills = sentinel != written.end();
        ExploredStep step{.token = fills ? 0 : -1, .rank = fills ? 1 : 0};
        step.log_probability = fills ? found[gap].front().log_probability : -std::numeric_limits<double>::infinity();
        step.position = fills ? sentinel - written.begin() : -1;
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
