// Codes of weights in blocks (tensor/blocks.h) as floats, eight in a vector, as AVX2 converts them at once.
#pragma once

#include <cstdint>
#include <cstring>

#include "backends/cpu/clones.h"
#include "tensor/blocks.h"

namespace headscope::cpu {

constexpr int kEight = 8;
using Eight = float __attribute__((vector_size(kEight * sizeof(float))));
using EightInts = std::int32_t __attribute__((vector_size(kEight * sizeof(std::int32_t))));

// Kernels take codes 32 bytes at a time, as eight words: a block of 8 bits, or two of 4 bits.
constexpr std::int64_t kChunkBytes = sizeof(EightInts);

template <int bits>
constexpr int kCodesInWord = 32 / bits;

template <int bits>
constexpr std::int64_t kChunkColumns = kEight* kCodesInWord<bits>;

// Where code `i` of word `word` stands in its chunk.
template <int bits>
constexpr std::int64_t column_of(int word, int i) {
    if constexpr (bits == 8) {
        return 4 * word + i;
    } else {
        return kBlockColumns * (word / 4) + 4 * (word % 4) + i / 2 + kHalfBlock * (i % 2);
    }
}

// Of 4 bits all but the last code of a word stay where they are, and so are this much too large.
template <int bits>
constexpr float excess_of(int i) {
    return bits == 4 && i + 1 < kCodesInWord<4> ? static_cast<float>(1 << (4 * i)) : 1.0F;
}

// Code `i` of each word, times its excess.
template <int bits, int i>
HEADSCOPE_INLINE void code_of(const EightInts& words, Eight& to) {
    if constexpr (bits == 8) {
        to = __builtin_convertvector((words << (24 - 8 * i)) >> 24, Eight);  // with its sign
    } else {
        if constexpr (i + 1 == kCodesInWord<4>) {
            using Words = std::uint32_t __attribute__((vector_size(sizeof(EightInts))));
            to = __builtin_convertvector(reinterpret_cast<EightInts>(reinterpret_cast<Words>(words) >> 28U), Eight);
        } else {
            to = __builtin_convertvector(words & (15 << (4 * i)), Eight);
        }
    }
}

HEADSCOPE_INLINE void load(const float* from, Eight& to) {
    std::memcpy(&to, from, sizeof(to));
}

// from[first] four times, and from[second] four times, of `count` = 2, 4 or 8 numbers. In vectors of 8 the second comes
// from the upper half; 2 or 4 numbers are first repeated in both halves. So no number crosses halves.
template <int count, int first, int second>
HEADSCOPE_INLINE void four_of_each(const float* from, Eight& to) {
    Eight all;
    if constexpr (count == 8) {
        load(from, all);
    } else if constexpr (count == 4) {
        using Four = float __attribute__((vector_size(4 * sizeof(float))));
        Four four;
        std::memcpy(&four, from, sizeof(four));
        all = __builtin_shufflevector(four, four, 0, 1, 2, 3, 0, 1, 2, 3);
    } else {
        using Doubles = double __attribute__((vector_size(sizeof(Eight))));
        double both = 0.0;
        std::memcpy(&both, from, sizeof(both));
        const Doubles doubles = {both, both, both, both};
        std::memcpy(&all, &doubles, sizeof(all));
    }
    constexpr int kLast = count == 8 ? second : second + 4;
    to = __builtin_shufflevector(all, all, first, first, first, first, kLast, kLast, kLast, kLast);
}

}  // namespace headscope::cpu
