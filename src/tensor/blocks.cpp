#include "tensor/blocks.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "tensor/dtype.h"

namespace headscope {

namespace {

// The number of the nearest code.
float steps(float value, float scale) {
    return scale == 0.0F ? 0.0F : std::nearbyint(value / scale);
}

}  // namespace

CodedBlock quantise_block(std::span<const float> values, int bits) {
    constexpr float kMost8 = 127.0F;
    constexpr float kMost4 = 15.0F;
    CodedBlock block;
    if (values.empty()) {
        return block;
    }
    const auto [low, high] = std::ranges::minmax(values);
    const bool symmetric = bits == 8;
    block.least = symmetric ? 0 : to_f16(low);
    const float least = from_f16(block.least);
    block.scale = to_f16(symmetric ? std::fmax(-low, high) / kMost8 : std::fmax(high - least, 0.0F) / kMost4);
    if (!is_finite(block)) {
        return block;
    }
    const float scale = from_f16(block.scale);
    const float most = symmetric ? kMost8 : kMost4;
    std::ranges::transform(values, block.codes.begin(), [&](float value) {
        return static_cast<std::int8_t>(std::clamp(steps(value - least, scale), symmetric ? -most : 0.0F, most));
    });
    return block;
}

bool is_finite(const CodedBlock& block) {
    constexpr unsigned kExponent = 0x7c00;
    return (block.scale & kExponent) != kExponent && (block.least & kExponent) != kExponent;
}

std::uint32_t scales_of(const CodedBlock& block) {
    return block.scale | std::uint32_t{block.least} << 16U;
}

std::uint32_t factors_of(const CodedBlock& block) {
    std::uint32_t word = 0;
    for (std::size_t i = 0; i < block.factors.size(); ++i) {
        word |= std::uint32_t{std::bit_cast<std::uint8_t>(block.factors[i])} << (8 * i);
    }
    return word;
}

void pack_codes(const CodedBlock& block, int bits, std::uint32_t* words) {
    const auto bytes_at = [&](std::size_t i) {
        return bits == 8 ? unsigned{std::bit_cast<std::uint8_t>(block.codes[i])}
                         : static_cast<unsigned>(block.codes[i]) | static_cast<unsigned>(block.codes[i + 16]) << 4U;
    };
    for (std::size_t word = 0; word < static_cast<std::size_t>(kCodeWords * bits / 8); ++word) {
        words[word] = bytes_at(4 * word) | bytes_at(4 * word + 1) << 8U | bytes_at(4 * word + 2) << 16U |
                      bytes_at(4 * word + 3) << 24U;
    }
}

void unpack_row(const std::uint32_t* codes, const std::uint32_t* scales, const BlockForm& form,
                std::span<float> values) {
    const int bits = form.bits;
    const std::size_t words = static_cast<std::size_t>(kCodeWords * bits / 8);
    const auto signed_byte = [](std::uint32_t word, std::size_t byte) {
        return std::bit_cast<std::int8_t>(static_cast<std::uint8_t>(word >> (8 * byte)));
    };
    for (std::size_t i = 0; i < values.size(); ++i) {
        const std::size_t block = i / kBlockColumns;
        const std::size_t in_block = i % kBlockColumns;
        const std::size_t byte = bits == 8 ? in_block : in_block % 16;
        const std::uint32_t found = codes[block * words + byte / 4] >> (8 * (byte % 4)) & 0xffU;
        const int code = bits == 8        ? signed_byte(found, 0)
                         : in_block < 16U ? static_cast<int>(found & 15U)
                                          : static_cast<int>(found >> 4U);
        const std::uint32_t* own = scales + block * (form.factors ? 2 : 1);
        float scale = from_f16(static_cast<std::uint16_t>(own[0]));
        float least = from_f16(static_cast<std::uint16_t>(own[0] >> 16U));
        if (form.factors) {
            scale *= static_cast<float>(signed_byte(own[1], in_block / kHalfBlock));
            least *= static_cast<float>(signed_byte(own[1], 2 + in_block / kHalfBlock));
        }
        values[i] = scale * static_cast<float>(code) + least;
    }
}

}  // namespace headscope
