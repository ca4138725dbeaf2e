// Sixteen floats at a time, in vectors as wide as the processor's: one of 16 (AVX-512), two of 8 (AVX2) or four of 4.
// A vector that is wider than the registers goes through memory, ten times slower.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "backends/cpu/clones.h"
#include "backends/cpu/row_math.h"

namespace headscope::cpu {

template <int width>
struct VectorOf;
template <>
struct VectorOf<16> {
    using Floats = float __attribute__((vector_size(64)));
    using Ints = std::int32_t __attribute__((vector_size(64)));
};
template <>
struct VectorOf<8> {
    using Floats = float __attribute__((vector_size(32)));
    using Ints = std::int32_t __attribute__((vector_size(32)));
};
template <>
struct VectorOf<4> {
    using Floats = float __attribute__((vector_size(16)));
    using Ints = std::int32_t __attribute__((vector_size(16)));
};

// Kernels are templates of this type; HEADSCOPE_VECTOR_CLONES makes one for each width.
template <int width>
struct LanesOf {
    static constexpr int kParts = static_cast<int>(kLanes) / width;
    static constexpr bool kManyRegisters = width == kLanes;  // 32 of 16 floats, else 16 of fewer
    using Part = typename VectorOf<width>::Floats;
    using Ints = typename VectorOf<width>::Ints;

    Part part[kParts];

    HEADSCOPE_INLINE void fill(float value) {
#pragma GCC unroll 4
        for (Part& own : part) {
            own = Part{} + value;
        }
    }
    HEADSCOPE_INLINE void load(const float* from) {
#pragma GCC unroll 4
        for (int i = 0; i < kParts; ++i) {
            std::memcpy(&part[i], from + i * width, sizeof(Part));
        }
    }
    HEADSCOPE_INLINE void store(float* to) const {
#pragma GCC unroll 4
        for (int i = 0; i < kParts; ++i) {
            std::memcpy(to + i * width, &part[i], sizeof(Part));
        }
    }
    // All, or the first `count` < 16 and zeros.
    template <bool whole>
    HEADSCOPE_INLINE void load(const float* from, std::int64_t count) {
        if constexpr (whole) {
            load(from);
        } else {
            float lanes[kLanes] = {};
            for (std::int64_t lane = 0; lane < count; ++lane) {
                lanes[lane] = from[lane];
            }
            load(lanes);
        }
    }
    template <bool whole>
    HEADSCOPE_INLINE void store(float* to, std::int64_t count) const {
        if constexpr (whole) {
            store(to);
        } else {
            float lanes[kLanes];
            store(lanes);
            std::memcpy(to, lanes, static_cast<std::size_t>(count) * sizeof(float));
        }
    }
    HEADSCOPE_INLINE void add_product(float factor, const LanesOf& x) {
#pragma GCC unroll 4
        for (int i = 0; i < kParts; ++i) {
            part[i] += factor * x.part[i];
        }
    }
    HEADSCOPE_INLINE void add_product(const LanesOf& factor, const LanesOf& x) {
#pragma GCC unroll 4
        for (int i = 0; i < kParts; ++i) {
            part[i] += factor.part[i] * x.part[i];
        }
    }
    HEADSCOPE_INLINE void operator+=(const LanesOf& x) {
#pragma GCC unroll 4
        for (int i = 0; i < kParts; ++i) {
            part[i] += x.part[i];
        }
    }
    HEADSCOPE_INLINE void operator-=(float x) {
#pragma GCC unroll 4
        for (Part& own : part) {
            own -= x;
        }
    }
    HEADSCOPE_INLINE void operator*=(float x) {
#pragma GCC unroll 4
        for (Part& own : part) {
            own *= x;
        }
    }
    HEADSCOPE_INLINE void operator*=(const LanesOf& x) {
#pragma GCC unroll 4
        for (int i = 0; i < kParts; ++i) {
            part[i] *= x.part[i];
        }
    }
    // Each lane becomes the larger of both; NaN in x is left out.
    HEADSCOPE_INLINE void take_larger(const LanesOf& x) {
#pragma GCC unroll 4
        for (int i = 0; i < kParts; ++i) {
            part[i] = x.part[i] > part[i] ? x.part[i] : part[i];
        }
    }
    HEADSCOPE_INLINE void replace_nan(float other) {
#pragma GCC unroll 4
        for (Part& own : part) {
            own = own == own ? own : Part{} + other;
        }
    }
    // ReLU. NaN stays.
    HEADSCOPE_INLINE void take_away_negative() {
#pragma GCC unroll 4
        for (Part& own : part) {
            own = own <= 0.0F ? Part{} : own;
        }
    }
    // Lanes outside [begin, end) become `other`.
    HEADSCOPE_INLINE void keep(std::int64_t begin, std::int64_t end, float other) {
        constexpr std::int32_t kNumbers[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
        const auto first = static_cast<std::int32_t>(begin);
        const auto last = static_cast<std::int32_t>(end);
#pragma GCC unroll 4
        for (int i = 0; i < kParts; ++i) {
            Ints lane;
            std::memcpy(&lane, kNumbers + i * width, sizeof(lane));
            part[i] = (lane >= first) & (lane < last) ? part[i] : Part{} + other;
        }
    }
};

// For functions that need AVX-512.
using WideLanes = LanesOf<16>;

// A function that is compiled for each width of vectors: what follows the declaration is its body, in which Lanes is a
// LanesOf. The loader picks one.
#define HEADSCOPE_WITH_LANES(width, declaration, ...) \
    declaration {                                     \
        using Lanes = LanesOf<width>;                 \
        __VA_ARGS__                                   \
    }
#if defined(HEADSCOPE_HAS_CLONES)
#define HEADSCOPE_NARROW_CLONES(declaration, ...)                                               \
    __attribute__((target("arch=x86-64-v3"))) HEADSCOPE_WITH_LANES(8, declaration, __VA_ARGS__) \
        __attribute__((target("default"))) HEADSCOPE_WITH_LANES(4, declaration, __VA_ARGS__)
#if defined(HEADSCOPE_CPU_AT_MOST_AVX2)
#define HEADSCOPE_VECTOR_CLONES(declaration, ...) HEADSCOPE_NARROW_CLONES(declaration, __VA_ARGS__)
#else
#define HEADSCOPE_VECTOR_CLONES(declaration, ...)                                                \
    __attribute__((target("arch=x86-64-v4"))) HEADSCOPE_WITH_LANES(16, declaration, __VA_ARGS__) \
        HEADSCOPE_NARROW_CLONES(declaration, __VA_ARGS__)
#endif
#else
#define HEADSCOPE_VECTOR_CLONES(declaration, ...) HEADSCOPE_WITH_LANES(4, declaration, __VA_ARGS__)
#endif

// Sums that stay in registers: compilers write a braced initialiser of so many to memory first.
template <class Lanes, std::size_t count>
HEADSCOPE_INLINE void set_zero(Lanes (&sums)[count]) {
#pragma GCC unroll 32
    for (Lanes& sum : sums) {
        sum.fill(0.0F);
    }
}

// e^x for x <= 0, to about one unit in the last place; 0 below the smallest normal number, NaN for NaN. In place.
template <int width>
HEADSCOPE_INLINE void exp_below(LanesOf<width>& lanes) {
    using Part = typename LanesOf<width>::Part;
    using Bits = typename LanesOf<width>::Ints;
    using namespace exponential;
    constexpr float kRound = 12582912.0F;  // 1.5 x 2^23: in a sum with it the last bits are a whole number
#pragma GCC unroll 4
    for (Part& x : lanes.part) {
        const Part clamped = x < kLowest ? Part{} + kLowest : x;
        const Part shifted = clamped * kLog2E + kRound;
        const Part whole = shifted - kRound;
        const Part r = (clamped - whole * kLn2High) - whole * kLn2Low;
        Part p;
        of_rest(r, p);
        Bits exponent;
        std::memcpy(&exponent, &shifted, sizeof(exponent));
        exponent = (exponent << 23) + 0x3f800000;
        Part power;  // 2^n
        std::memcpy(&power, &exponent, sizeof(power));
        x = x < kLowest ? Part{} : p * power;
    }
}

// Of lanes without NaN.
template <int width>
HEADSCOPE_INLINE float largest_lane(const LanesOf<width>& lanes) {
    float x[kLanes];
    lanes.store(x);
    for (std::int64_t half = kLanes / 2; half > 0; half /= 2) {
        for (std::int64_t lane = 0; lane < half; ++lane) {
            x[lane] = x[lane + half] > x[lane] ? x[lane + half] : x[lane];
        }
    }
    return x[0];
}

template <int width>
HEADSCOPE_INLINE float total_lane(const LanesOf<width>& x) {
    float lanes[kLanes];
    x.store(lanes);
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

template <int half, int width>
HEADSCOPE_INLINE void fold(const LanesOf<width>& x, const LanesOf<width>& y, LanesOf<width>& to) {
    constexpr int kDistance = half / width;  // in parts
    LanesOf<width> sums;
#pragma GCC unroll 4
    for (int i = 0; i < LanesOf<width>::kParts; ++i) {
        if constexpr (kDistance == 0) {
            fold<half>(x.part[i], y.part[i], sums.part[i]);
        } else if ((i & kDistance) == 0) {
            sums.part[i] = x.part[i] + x.part[i + kDistance];
        } else {
            sums.part[i] = y.part[i - kDistance] + y.part[i];
        }
    }
    to = sums;
}

// Lane i becomes the sum of sums[i]'s lanes, in total_of's order, for 16 vectors of 16 or 8 of 8 at once; overwrites
// `sums`.
template <class Vector, std::size_t count>
HEADSCOPE_INLINE void totals_of(Vector (&sums)[count], Vector& to) {
    static_assert(count * sizeof(float) == sizeof(Vector));
    if constexpr (count == kLanes) {
#pragma GCC unroll 8
        for (int i = 0; i < 8; ++i) {
            fold<8>(sums[i], sums[i + 8], sums[i]);
        }
    }
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
        fold<4>(sums[i], sums[i + 4], sums[i]);
    }
    fold<2>(sums[0], sums[2], sums[0]);
    fold<2>(sums[1], sums[3], sums[1]);
    fold<1>(sums[0], sums[1], to);
}

template <int half, class Vector, int... lane>
HEADSCOPE_INLINE void swap_lanes(Vector& x, Vector& y, std::integer_sequence<int, lane...> /*lanes*/) {
    constexpr int kCount = sizeof...(lane);
    const Vector upper = __builtin_shufflevector(x, y, ((lane & half) == 0 ? lane : (lane ^ half) + kCount)...);
    const Vector lower = __builtin_shufflevector(x, y, ((lane & half) == 0 ? lane ^ half : lane + kCount)...);
    x = upper;
    y = lower;
}

template <int half, int width>
HEADSCOPE_INLINE void swap_blocks(LanesOf<width>& x, LanesOf<width>& y) {
    constexpr int kDistance = half / width;  // in parts
#pragma GCC unroll 4
    for (int i = 0; i < LanesOf<width>::kParts; ++i) {
        if constexpr (kDistance == 0) {
            swap_lanes<half>(x.part[i], y.part[i], std::make_integer_sequence<int, width>());
        } else if ((i & kDistance) == 0) {
            const typename LanesOf<width>::Part own = x.part[i + kDistance];
            x.part[i + kDistance] = y.part[i];
            y.part[i] = own;
        }
    }
}

template <int half, int width>
HEADSCOPE_INLINE void swap_all_blocks(LanesOf<width> (&rows)[kLanes]) {
#pragma GCC unroll 16
    for (int i = 0; i < kLanes; ++i) {
        if ((i & half) == 0) {
            swap_blocks<half>(rows[i], rows[i | half]);
        }
    }
}

// Lane i of rows[j] becomes lane j of rows[i]. Only moves bits, so they may be anything.
template <int width>
HEADSCOPE_INLINE void transpose(LanesOf<width> (&rows)[kLanes]) {
    swap_all_blocks<8>(rows);
    swap_all_blocks<4>(rows);
    swap_all_blocks<2>(rows);
    swap_all_blocks<1>(rows);
}

}  // namespace headscope::cpu
