// What may stand in the gaps of a span model's text, by the outputs that fill them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "explore/exploration.h"
#include "text/tokenizer.h"

namespace headscope {

// Equally many of both; each token's is given all before it.
struct ScoredOutput {
    std::span<const std::int32_t> tokens;
    std::span<const double> log_probabilities;
};

// Exploration::gaps of a text with these sentinels. The outputs are best first; the first one is written. Without
// sentinels there are no gaps.
std::vector<ExploredStep> explored_gaps(const Tokenizer& tokenizer, const std::vector<std::int32_t>& sentinels,
                                        const std::vector<ScoredOutput>& outputs);
// The same of one output.
std::vector<ExploredStep> explored_gaps(const Tokenizer& tokenizer, const std::vector<std::int32_t>& sentinels,
                                        const std::vector<ExploredStep>& output);

}  // namespace headscope
