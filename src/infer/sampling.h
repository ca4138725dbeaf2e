// One token drawn by chance, the same on every device and in every batch.
#pragma once

#include <cstdint>
#include <vector>

#include "infer/search_options.h"

namespace headscope {

struct TokenChance {
    std::int32_t token = 0;
    double log_probability = 0.0;
};

// Which draw this is, beside the seed.
struct DrawKey {
    std::uint32_t line = 0;      // of the text
    std::uint32_t part = 0;      // of a line that was split
    std::uint32_t position = 0;  // in the output
};

// Index of one of `allowed` (at least one, finite, in any order), with the chances that `sampling` makes of their
// probabilities. Each token adds noise of its own to its log probability, so that rounding changes a draw only where
// two sums are as close as two scores of a tie, or where top_p ends within the rounding of a sum.
std::size_t draw(const std::vector<TokenChance>& allowed, const Sampling& sampling, const DrawKey& key);

}  // namespace headscope
