// Numbers quantised in blocks of 32 neighbours of a row, as most language models are published (GGUF).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace headscope {

// The layout of a matrix in blocks. The last block of a row may have less than 32 columns; it has codes for all.
//   scales [rows, blocks * words]: 32 bits for each block, those of its scale in F16 and above them those of its least
//     value. In blocks with factors a second word follows, whose bytes have signs, lowest first: by these the scale is
//     multiplied for the first and the last 16 columns, and by these the least value. Elsewhere all four are 1.
//   codes [rows, blocks * kCodeWords * bits / 8]: words of 32 bits, whose lowest byte comes first
//     8 bits: code i is byte i of its block, from -128 to 127
//     4 bits: code i, from 0 to 15, is the low half of byte i, or from 16 on the high half of byte i - 16
// A code stands for (scale * factor) * code + least * factor, computed in F32.
inline constexpr std::int64_t kBlockColumns = 32;
inline constexpr std::int64_t kHalfBlock = kBlockColumns / 2;
inline constexpr std::int64_t kCodeWords = 8;  // of a block with 8 bits a code

// How the blocks of a matrix are laid out.
struct BlockForm {
    int bits = 0;  // 4 or 8 for each code; 0: not in blocks
    bool factors = false;

    bool operator==(const BlockForm&) const = default;
};

inline constexpr std::int64_t blocks_of(std::int64_t columns) {
    return (columns + kBlockColumns - 1) / kBlockColumns;
}
// Of a row.
inline constexpr std::int64_t code_words(std::int64_t columns, int bits) {
    return blocks_of(columns) * kCodeWords * bits / 8;
}
inline constexpr std::int64_t scale_words(std::int64_t columns, bool factors) {
    return blocks_of(columns) * (factors ? 2 : 1);
}

// One block, whatever its form.
struct CodedBlock {
    std::uint16_t scale = 0, least = 0;              // F16
    std::array<std::int8_t, 4> factors{1, 1, 1, 1};  // of both halves' scale, then of their least value
    std::array<std::int8_t, kBlockColumns> codes{};
};

// The nearest that so many bits have to at most 32 finite numbers. 8 bits are symmetric: `least` is 0. The scale or the
// least value is infinite if F16 has none as large.
CodedBlock quantise_block(std::span<const float> values, int bits);
// Whether the block stands for finite numbers.
bool is_finite(const CodedBlock& block);

// The words of a block's scales and factors, and of its codes.
std::uint32_t scales_of(const CodedBlock& block);
std::uint32_t factors_of(const CodedBlock& block);
void pack_codes(const CodedBlock& block, int bits, std::uint32_t* words);

// The values of the first `values.size()` columns of a row.
void unpack_row(const std::uint32_t* codes, const std::uint32_t* scales, const BlockForm& form,
                std::span<float> values);

}  // namespace headscope
