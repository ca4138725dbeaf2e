#include "backends/cpu/block_weight.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "backend/ops/blocks.h"
#include "backends/cpu/block_codes.h"
#include "backends/cpu/clones.h"
#include "backends/cpu/halves.h"
#include "backends/cpu/memory/view.h"

namespace headscope::cpu {

namespace {

// `pairs`: a scale and a least value for each block; `words`: those of factors are the second of each two.
HEADSCOPE_CLONES void multiply_by_factors(const float* pairs, const std::uint32_t* words, std::size_t blocks,
                                          float* to) {
    using Four = float __attribute__((vector_size(4 * sizeof(float))));
    using FourInts = std::int32_t __attribute__((vector_size(4 * sizeof(std::int32_t))));
    constexpr FourInts kToTop = {24, 16, 8, 0};
    for (std::size_t block = 0; block < blocks; ++block) {
        FourInts own = {};  // vectors of which a part is loaded: others would be built number by number
        Four pair = {};
        std::memcpy(&own, words + 2 * block, 2 * sizeof(float));
        std::memcpy(&pair, pairs + 2 * block, 2 * sizeof(float));
        const FourInts factors = (__builtin_shufflevector(own, own, 1, 1, 1, 1) << kToTop) >> 24;
        const Four values = __builtin_shufflevector(pair, pair, 0, 0, 1, 1) * __builtin_convertvector(factors, Four);
        std::memcpy(to + 4 * block, &values, sizeof(values));
    }
}

constexpr int kEights = static_cast<int>(kBlockColumns) / kEight;

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

template <int bits, int halves>
HEADSCOPE_INLINE void widen_blocks(const std::uint8_t* codes, const float* scales, std::int64_t columns, float scale,
                                   float* to) {
    for (std::int64_t block = 0; block < blocks_of(columns); ++block) {
        Eight values[kEights];
        widen_codes<bits>(codes + block * kBlockColumns * bits / 8, values);
        for (int i = 0; i < kEights; ++i) {
            const float* own = scales + 2 * halves * block + i * halves / kEights;
            values[i] = scale * (own[0] * values[i] + own[halves]);
        }
        const std::int64_t count = std::min(kBlockColumns, columns - block * kBlockColumns);
        std::memcpy(to + block * kBlockColumns, values, static_cast<std::size_t>(count) * sizeof(float));
    }
}

HEADSCOPE_CLONES void widen_row(const BlockForm& form, const std::uint8_t* codes, const float* scales,
                                std::int64_t columns, float scale, float* to) {
    if (form.factors) {
        form.bits == 8 ? widen_blocks<8, 2>(codes, scales, columns, scale, to)
                       : widen_blocks<4, 2>(codes, scales, columns, scale, to);
    } else {
        form.bits == 8 ? widen_blocks<8, 1>(codes, scales, columns, scale, to)
                       : widen_blocks<4, 1>(codes, scales, columns, scale, to);
    }
}

}  // namespace

BlockWeight::BlockWeight(const Tensor& code_words, const Tensor& scale_words, std::int64_t of_columns)
    : codes(reinterpret_cast<const std::uint8_t*>(data_of<std::int32_t>(code_words))),
      scales(reinterpret_cast<const std::uint32_t*>(data_of<std::int32_t>(scale_words))),
      rows(code_words.dim(0)),
      columns(of_columns),
      blocks(blocks_of(of_columns)),
      row_bytes(code_words.dim(1) * static_cast<std::int64_t>(sizeof(std::int32_t))),
      row_scales(scale_words.dim(1)),
      form(form_of(code_words, scale_words, of_columns)) {}

void BlockScales::read(std::int64_t first, std::int64_t count) {
    const auto blocks = static_cast<std::size_t>(weight_.blocks * count);
    const std::uint32_t* words = weight_.scales + first * weight_.row_scales;
    values_.resize(std::max(values_.size(), step_ * static_cast<std::size_t>(count)));
    if (!weight_.form.factors) {
        widen_f16(reinterpret_cast<const std::uint16_t*>(words), static_cast<std::int64_t>(2 * blocks), values_.data());
        return;
    }
    words_.resize(blocks);
    pairs_.resize(2 * blocks);
    for (std::size_t block = 0; block < blocks; ++block) {
        words_[block] = words[2 * block];
    }
    widen_f16(reinterpret_cast<const std::uint16_t*>(words_.data()), std::ssize(pairs_), pairs_.data());
    multiply_by_factors(pairs_.data(), words, blocks, values_.data());
}

void widen(const BlockWeight& weight, std::int64_t row, float scale, BlockScales& scales, float* to) {
    scales.read(row, 1);
    widen_row(weight.form, weight.codes + row * weight.row_bytes, scales.row(0), weight.columns, scale, to);
}

}  // namespace headscope::cpu
