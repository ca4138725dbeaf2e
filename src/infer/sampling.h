// Samples one token, reproducibly on every device and in every batch.
#pragma once

#include <cstdint>
#include <vector>

#include "infer/search_options.h"
#include "infer/session.h"

namespace headscope {

// Identifies a random draw, together with the seed.
struct DrawKey {
    std::uint32_t line = 0;      // of the text
    std::uint32_t part = 0;      // of a split line
    std::uint32_t position = 0;  // in the output
};

// Samples an index of `allowed` (at least one, finite, in any order). Each token gets its own noise, so that rounding
// changes the result only if two sums are nearly tied or top_p ends within the rounding of a sum.
std::size_t draw(const std::vector<TokenChance>& allowed, const SearchOptions& options, const DrawKey& key);

}  // namespace headscope
