// Codes of weights in blocks (tensor/blocks.h) as floats, eight in a vector, which both AVX2 and AVX-512 convert at
// once.
#pragma once

#include <cstdint>
#include <cstring>

#include "backends/cpu/clones.h"
#include "tensor/blocks.h"

namespace headscope::cpu {

using Eight = float __attribute__((vector_size(8 * sizeof(float))));
constexpr int kEights = static_cast<int>(kBlockColumns) / 8;

using CodeBytes = std::uint8_t __attribute__((vector_size(16)));

// The first eight of sixteen bytes: a conversion of eight bytes alone would be made one by one.
HEADSCOPE_INLINE void widen_eight(const CodeBytes& bytes, Eight& to) {
    using SixteenInts = std::int32_t __attribute__((vector_size(16 * sizeof(std::int32_t))));
    const SixteenInts all = __builtin_convertvector(bytes, SixteenInts);
    to = __builtin_convertvector(__builtin_shufflevector(all, all, 0, 1, 2, 3, 4, 5, 6, 7), Eight);
}

// Eight bytes with a sign, whose conversion would be made one by one as well.
HEADSCOPE_INLINE void widen_signed(const std::uint8_t* codes, Eight& to) {
    using Words = std::uint64_t __attribute__((vector_size(sizeof(CodeBytes))));
    constexpr std::uint8_t kSign = 128;
    Words words = {};
    std::uint64_t word = 0;
    std::memcpy(&word, codes, sizeof(word));
    words[0] = word;
    CodeBytes bytes;
    std::memcpy(&bytes, &words, sizeof(bytes));
    widen_eight(bytes ^ kSign, to);  // the code and 128, without a sign
    to -= static_cast<float>(kSign);
}

HEADSCOPE_INLINE void upper_half(const CodeBytes& bytes, CodeBytes& to) {
    to = __builtin_shufflevector(bytes, bytes, 8, 9, 10, 11, 12, 13, 14, 15, 8, 9, 10, 11, 12, 13, 14, 15);
}

// The 32 codes of a block, in order.
template <int bits>
HEADSCOPE_INLINE void widen_codes(const std::uint8_t* codes, Eight (&to)[kEights]) {
    if constexpr (bits == 8) {
        widen_signed(codes, to[0]);
        widen_signed(codes + 8, to[1]);
        widen_signed(codes + 16, to[2]);
        widen_signed(codes + 24, to[3]);
    } else {
        CodeBytes bytes;
        CodeBytes upper;
        std::memcpy(&bytes, codes, sizeof(bytes));
        upper_half(bytes, upper);
        widen_eight(bytes & 15, to[0]);
        widen_eight(upper & 15, to[1]);
        widen_eight(bytes >> 4, to[2]);
        widen_eight(upper >> 4, to[3]);
    }
}

}  // namespace headscope::cpu
