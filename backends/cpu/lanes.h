// Sixteen floats at a time: the own kernels' vectors. Compilers split one into what the processor has.
#pragma once

#include <cstdint>
#include <cstring>
#include <utility>

#include "backends/cpu/clones.h"
#include "backends/cpu/row_math.h"

namespace headscope::cpu {

using Lanes = float __attribute__((vector_size(kLanes * sizeof(float))));

// 16 lanes, or else the first `count` < 16 and zeros.
template <bool whole>
HEADSCOPE_INLINE void load(const float* from, std::int64_t count, Lanes& to) {
    if constexpr (whole) {
        std::memcpy(&to, from, sizeof(to));
    } else {
        to = Lanes{};
        for (std::int64_t lane = 0; lane < count; ++lane) {
            to[lane] = from[lane];
        }
    }
}

template <int half, int... lane>
HEADSCOPE_INLINE void fold_lanes(const Lanes& x, const Lanes& y, Lanes& to, std::integer_sequence<int, lane...>) {
    // Lanes 0 to 15 are x's, 16 to 31 y's.
    to = __builtin_shufflevector(x, y, ((lane & ~half) + ((lane & half) != 0 ? kLanes : 0))...) +
         __builtin_shufflevector(x, y, ((lane | half) + ((lane & half) != 0 ? kLanes : 0))...);
}

// Adds lanes that are `half` apart: x's in the lanes without that bit in their number, y's in the others.
template <int half>
HEADSCOPE_INLINE void fold(const Lanes& x, const Lanes& y, Lanes& to) {
    fold_lanes<half>(x, y, to, std::make_integer_sequence<int, kLanes>());
}

// Lane i becomes the sum of sums[i]'s lanes, in total_of's order, for 16 vectors at once; `sums` is used up.
HEADSCOPE_INLINE void totals_of(Lanes (&sums)[kLanes], Lanes& to) {
    for (int i = 0; i < 8; ++i) {
        fold<8>(sums[i], sums[i + 8], sums[i]);
    }
    for (int i = 0; i < 4; ++i) {
        fold<4>(sums[i], sums[i + 4], sums[i]);
    }
    for (int i = 0; i < 2; ++i) {
        fold<2>(sums[i], sums[i + 2], sums[i]);
    }
    fold<1>(sums[0], sums[1], to);
}

}  // namespace headscope::cpu
