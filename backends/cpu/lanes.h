// Sixteen floats at a time: the vectors of our kernels. Compilers split them for the processor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "backends/cpu/clones.h"
#include "backends/cpu/row_math.h"

namespace headscope::cpu {

using Lanes = float __attribute__((vector_size(kLanes * sizeof(float))));
using LaneInts = std::int32_t __attribute__((vector_size(kLanes * sizeof(std::int32_t))));

// Zeros for sums that stay in registers: compilers write a braced initialiser of so many to memory first.
template <class Vector, std::size_t count>
HEADSCOPE_INLINE void set_zero(Vector (&sums)[count]) {
#pragma GCC unroll 32
    for (Vector& sum : sums) {
        sum = Vector{};
    }
}

// Loads 16 lanes, or the first `count` < 16 and zeros.
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

// e^x for x <= 0, to about one unit in the last place; 0 below the smallest normal number, NaN for NaN. In place.
HEADSCOPE_INLINE void exp_below(Lanes& x) {
    using Bits = std::uint32_t __attribute__((vector_size(kLanes * sizeof(std::uint32_t))));
    using namespace exponential;
    constexpr float kRound = 12582912.0F;  // 1.5 x 2^23: in a sum with it the last bits are a whole number
    const Lanes clamped = x < kLowest ? Lanes{} + kLowest : x;
    const Lanes shifted = clamped * kLog2E + kRound;
    const Lanes whole = shifted - kRound;
    const Lanes r = (clamped - whole * kLn2High) - whole * kLn2Low;
    Lanes p;
    of_rest(r, p);
    Bits exponent;
    std::memcpy(&exponent, &shifted, sizeof(exponent));
    exponent = (exponent << 23U) + 0x3f800000U;
    Lanes power;  // 2^n
    std::memcpy(&power, &exponent, sizeof(power));
    x = x < kLowest ? Lanes{} : p * power;
}

// to = the larger of both; NaN in x is left out.
HEADSCOPE_INLINE void take_larger(const Lanes& x, Lanes& to) {
    to = x > to ? x : to;
}

template <int half, int... lane>
HEADSCOPE_INLINE void take_larger_at(Lanes& x, std::integer_sequence<int, lane...> /*lanes*/) {
    take_larger(__builtin_shufflevector(x, x, (lane ^ half)...), x);
}

// Of lanes without NaN.
HEADSCOPE_INLINE float largest_lane(Lanes x) {
    constexpr std::make_integer_sequence<int, kLanes> kAll;
    take_larger_at<8>(x, kAll);
    take_larger_at<4>(x, kAll);
    take_larger_at<2>(x, kAll);
    take_larger_at<1>(x, kAll);
    return x[0];
}

HEADSCOPE_INLINE float total_lane(const Lanes& x) {
    float lanes[kLanes];
    std::memcpy(lanes, &x, sizeof(lanes));
    return total_of(lanes);
}

template <int half, class Vector, int... lane>
HEADSCOPE_INLINE void fold_lanes(const Vector& x, const Vector& y, Vector& to,
                                 std::integer_sequence<int, lane...> /*lanes*/) {
    // The first lanes are x's, those behind them y's.
    constexpr int kCount = sizeof...(lane);
    to = __builtin_shufflevector(x, y, ((lane & ~half) + ((lane & half) != 0 ? kCount : 0))...) +
         __builtin_shufflevector(x, y, ((lane | half) + ((lane & half) != 0 ? kCount : 0))...);
}

// Adds lanes at distance `half`: x's in lanes whose number lacks that bit, y's in the others.
template <int half, class Vector>
HEADSCOPE_INLINE void fold(const Vector& x, const Vector& y, Vector& to) {
    fold_lanes<half>(x, y, to, std::make_integer_sequence<int, sizeof(Vector) / sizeof(float)>());
}

// Lane i becomes the sum of sums[i]'s lanes, in total_of's order, for 16 vectors of 16 or 8 of 8 at once; overwrites
// `sums`.
template <class Vector, std::size_t count>
HEADSCOPE_INLINE void totals_of(Vector (&sums)[count], Vector& to) {
    static_assert(count * sizeof(float) == sizeof(Vector));
    if constexpr (count == kLanes) {
        for (int i = 0; i < 8; ++i) {
            fold<8>(sums[i], sums[i + 8], sums[i]);
        }
    }
    for (int i = 0; i < 4; ++i) {
        fold<4>(sums[i], sums[i + 4], sums[i]);
    }
    for (int i = 0; i < 2; ++i) {
        fold<2>(sums[i], sums[i + 2], sums[i]);
    }
    fold<1>(sums[0], sums[1], to);
}

template <int half, int... lane>
HEADSCOPE_INLINE void swap_blocks(Lanes& x, Lanes& y, std::integer_sequence<int, lane...> /*lanes*/) {
    const Lanes upper = __builtin_shufflevector(x, y, ((lane & half) == 0 ? lane : (lane ^ half) + kLanes)...);
    const Lanes lower = __builtin_shufflevector(x, y, ((lane & half) == 0 ? lane ^ half : lane + kLanes)...);
    x = upper;
    y = lower;
}

template <int half>
HEADSCOPE_INLINE void swap_all_blocks(Lanes (&rows)[kLanes]) {
    for (int i = 0; i < kLanes; ++i) {
        if ((i & half) == 0) {
            swap_blocks<half>(rows[i], rows[i | half], std::make_integer_sequence<int, kLanes>());
        }
    }
}

// Lane i of rows[j] becomes lane j of rows[i]. Only moves bits, so they may be anything.
HEADSCOPE_INLINE void transpose(Lanes (&rows)[kLanes]) {
    swap_all_blocks<8>(rows);
    swap_all_blocks<4>(rows);
    swap_all_blocks<2>(rows);
    swap_all_blocks<1>(rows);
}

}  // namespace headscope::cpu
