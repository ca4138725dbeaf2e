// When attention writes no weight for a pair of a query and a key, whatever is faster, so that its memory grows with
// the sentence and not with its square.
#pragma once

#include <cstdint>

namespace headscope {

// Of one head. Shorter ones may be composed of products, whose weights then take four mebibytes of F32 a head at most.
constexpr bool is_long_attention(std::int64_t queries, std::int64_t keys) {
    constexpr std::int64_t kMostPairs = std::int64_t{1} << 20;
    return queries * keys > kMostPairs;
}

}  // namespace headscope
