#include "io/gguf_types.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "tensor/dtype.h"

namespace headscope {

namespace {

using Bytes = const std::uint8_t*;

constexpr std::size_t kSmall = 32;   // elements of a block
constexpr std::size_t kLarge = 256;  // of a block of the types with K, and of IQ4_XS

unsigned little_endian(Bytes bytes, int count) {
    unsigned value = 0;
    for (int i = 0; i < count; ++i) {
        value |= unsigned{bytes[i]} << (8 * i);
    }
    return value;
}

float half_at(Bytes bytes) {
    return from_f16(static_cast<std::uint16_t>(little_endian(bytes, 2)));
}

float number(unsigned code, int offset = 0) {
    return static_cast<float>(static_cast<int>(code) - offset);
}

// Four bits: the values of the first half of a run are the low halves of its bytes, those of the second the high ones.
unsigned nibble(Bytes codes, std::size_t i, std::size_t run) {
    const std::size_t in_run = i % run;
    const bool high = in_run >= run / 2;
    const unsigned byte = codes[(i / run) * (run / 2) + in_run % (run / 2)];
    return high ? byte >> 4U : byte & 15U;
}

// Two bits: of 128 values, the first 32 are the lowest bits of 32 bytes.
unsigned crumb(Bytes codes, std::size_t i) {
    return (unsigned{codes[(i / 128) * 32 + i % 32]} >> (2 * (i / 32 % 4))) & 3U;
}

unsigned bit(Bytes bits, std::size_t i) {
    return (unsigned{bits[i / 8]} >> (i % 8)) & 1U;
}

void unpack_q4_0(Bytes block, float* values) {
    const float scale = half_at(block);
    for (std::size_t i = 0; i < kSmall; ++i) {
        values[i] = scale * number(nibble(block + 2, i, kSmall), 8);
    }
}

void unpack_q4_1(Bytes block, float* values) {
    const float scale = half_at(block);
    const float least = half_at(block + 2);
    for (std::size_t i = 0; i < kSmall; ++i) {
        values[i] = scale * number(nibble(block + 4, i, kSmall)) + least;
    }
}

void unpack_q5_0(Bytes block, float* values) {
    const float scale = half_at(block);
    for (std::size_t i = 0; i < kSmall; ++i) {
        values[i] = scale * number(nibble(block + 6, i, kSmall) | (bit(block + 2, i) << 4U), 16);
    }
}

void unpack_q5_1(Bytes block, float* values) {
    const float scale = half_at(block);
    const float least = half_at(block + 2);
    for (std::size_t i = 0; i < kSmall; ++i) {
        values[i] = scale * number(nibble(block + 8, i, kSmall) | (bit(block + 4, i) << 4U)) + least;
    }
}

void unpack_q8_0(Bytes block, float* values) {
    const float scale = half_at(block);
    for (std::size_t i = 0; i < kSmall; ++i) {
        values[i] = scale * static_cast<float>(std::bit_cast<std::int8_t>(block[2 + i]));
    }
}

void code_q4_0(Bytes block, CodedBlock& to) {
    to.scale = static_cast<std::uint16_t>(little_endian(block, 2));
    to.least = to_f16(-8.0F * from_f16(to.scale));  // exact, or infinite
    for (std::size_t i = 0; i < kSmall; ++i) {
        to.codes[i] = static_cast<std::int8_t>(nibble(block + 2, i, kSmall));
    }
}

void code_q4_1(Bytes block, CodedBlock& to) {
    to.scale = static_cast<std::uint16_t>(little_endian(block, 2));
    to.least = static_cast<std::uint16_t>(little_endian(block + 2, 2));
    for (std::size_t i = 0; i < kSmall; ++i) {
        to.codes[i] = static_cast<std::int8_t>(nibble(block + 4, i, kSmall));
    }
}

void code_q5_0(Bytes block, CodedBlock& to) {
    to.scale = static_cast<std::uint16_t>(little_endian(block, 2));
    to.least = 0;
    for (std::size_t i = 0; i < kSmall; ++i) {
        to.codes[i] =
            static_cast<std::int8_t>(static_cast<int>(nibble(block + 6, i, kSmall) | (bit(block + 2, i) << 4U)) - 16);
    }
}

void code_q5_1(Bytes block, CodedBlock& to) {
    to.scale = static_cast<std::uint16_t>(little_endian(block, 2));
    to.least = static_cast<std::uint16_t>(little_endian(block + 2, 2));
    for (std::size_t i = 0; i < kSmall; ++i) {
        to.codes[i] = static_cast<std::int8_t>(nibble(block + 8, i, kSmall) | (bit(block + 4, i) << 4U));
    }
}

void code_q8_0(Bytes block, CodedBlock& to) {
    to.scale = static_cast<std::uint16_t>(little_endian(block, 2));
    to.least = 0;
    for (std::size_t i = 0; i < kSmall; ++i) {
        to.codes[i] = std::bit_cast<std::int8_t>(block[2 + i]);
    }
}

void unpack_q2_k(Bytes block, float* values) {
    const float scale = half_at(block + 80);
    const float least = half_at(block + 82);
    for (std::size_t i = 0; i < kLarge; ++i) {
        const unsigned factors = block[i / 16];
        const float from = least * number(factors >> 4U);
        values[i] = scale * number(factors & 15U) * number(crumb(block + 16, i)) - from;
    }
}

void unpack_q3_k(Bytes block, float* values) {
    const Bytes scales = block + 96;
    const float scale = half_at(block + 108);
    for (std::size_t i = 0; i < kLarge; ++i) {
        const std::size_t group = i / 16;
        const unsigned low = group < 8 ? scales[group] & 15U : unsigned{scales[group - 8]} >> 4U;
        const unsigned high = (unsigned{scales[8 + group % 4]} >> (2 * (group / 4))) & 3U;
        const bool less = ((unsigned{block[i % 32]} >> (i / 32)) & 1U) == 0;
        values[i] = scale * number(low | (high << 4U), 32) * number(crumb(block + 32, i), less ? 4 : 0);
    }
}

// Six bits each of the factors of eight groups, of the scale or of the least value.
unsigned six_bits(Bytes factors, std::size_t group, bool of_least) {
    const Bytes own = factors + (of_least ? 4 : 0);
    if (group < 4) {
        return own[group] & 63U;
    }
    const unsigned shared = factors[4 + group];
    return (of_least ? shared >> 4U : shared & 15U) | ((unsigned{own[group - 4]} >> 2U) & 0x30U);
}

void unpack_q4_k(Bytes block, float* values) {
    const float scale = half_at(block);
    const float least = half_at(block + 2);
    for (std::size_t i = 0; i < kLarge; ++i) {
        const float from = least * number(six_bits(block + 4, i / 32, true));
        values[i] = scale * number(six_bits(block + 4, i / 32, false)) * number(nibble(block + 16, i, 64)) - from;
    }
}

void unpack_q5_k(Bytes block, float* values) {
    const float scale = half_at(block);
    const float least = half_at(block + 2);
    for (std::size_t i = 0; i < kLarge; ++i) {
        const unsigned high = (unsigned{block[16 + i % 32]} >> (i / 32)) & 1U;
        const float from = least * number(six_bits(block + 4, i / 32, true));
        values[i] =
            scale * number(six_bits(block + 4, i / 32, false)) * number(nibble(block + 48, i, 64) | (high << 4U)) -
            from;
    }
}

void unpack_q6_k(Bytes block, float* values) {
    const float scale = half_at(block + 208);
    for (std::size_t i = 0; i < kLarge; ++i) {
        const auto factor = static_cast<float>(std::bit_cast<std::int8_t>(block[192 + i / 16]));
        values[i] = scale * factor * number(nibble(block, i, 128) | (crumb(block + 128, i) << 4U), 32);
    }
}

// What the codes of the types IQ4 stand for.
constexpr std::array<float, 16> kUneven = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};

void unpack_iq4_nl(Bytes block, float* values) {
    const float scale = half_at(block);
    for (std::size_t i = 0; i < kSmall; ++i) {
        values[i] = scale * kUneven[nibble(block + 2, i, kSmall)];
    }
}

void unpack_iq4_xs(Bytes block, float* values) {
    const float scale = half_at(block);
    const unsigned high = little_endian(block + 2, 2);
    for (std::size_t i = 0; i < kLarge; ++i) {
        const std::size_t group = i / 32;
        const unsigned low = (unsigned{block[4 + group / 2]} >> (4 * (group % 2))) & 15U;
        const float factor = number(low | (((high >> (2 * group)) & 3U) << 4U), 32);
        values[i] = scale * factor * kUneven[nibble(block + 8, i, kSmall)];
    }
}

constexpr std::array kTypes = {GgufType{0, "F32", 1, 4, nullptr},
                               GgufType{1, "F16", 1, 2, nullptr},
                               GgufType{30, "BF16", 1, 2, nullptr},
                               GgufType{28, "F64", 1, 8, nullptr},
                               GgufType{24, "I8", 1, 1, nullptr},
                               GgufType{25, "I16", 1, 2, nullptr},
                               GgufType{26, "I32", 1, 4, nullptr},
                               GgufType{27, "I64", 1, 8, nullptr},
                               GgufType{2, "Q4_0", kSmall, 18, unpack_q4_0, code_q4_0, 4},
                               GgufType{3, "Q4_1", kSmall, 20, unpack_q4_1, code_q4_1, 4},
                               GgufType{6, "Q5_0", kSmall, 22, unpack_q5_0, code_q5_0, 8},
                               GgufType{7, "Q5_1", kSmall, 24, unpack_q5_1, code_q5_1, 8},
                               GgufType{8, "Q8_0", kSmall, 34, unpack_q8_0, code_q8_0, 8},
                               GgufType{10, "Q2_K", kLarge, 84, unpack_q2_k},
                               GgufType{11, "Q3_K", kLarge, 110, unpack_q3_k},
                               GgufType{12, "Q4_K", kLarge, 144, unpack_q4_k},
                               GgufType{13, "Q5_K", kLarge, 176, unpack_q5_k},
                               GgufType{14, "Q6_K", kLarge, 210, unpack_q6_k},
                               GgufType{20, "IQ4_NL", kSmall, 18, unpack_iq4_nl},
                               GgufType{23, "IQ4_XS", kLarge, 136, unpack_iq4_xs}};

}  // namespace

const GgufType* gguf_type(std::uint32_t number) {
    const auto* found = std::ranges::find(kTypes, number, &GgufType::number);
    return found == kTypes.end() ? nullptr : found;
}

std::string gguf_type_names() {
    std::string names;
    for (const GgufType& type : kTypes) {
        names += (names.empty() ? "" : ", ") + std::string(type.name);
    }
    return names;
}

bool unpack_blocks(const GgufType& type, std::span<const std::byte> blocks, std::span<float> values) {
    const auto* bytes = reinterpret_cast<Bytes>(blocks.data());
    for (std::size_t block = 0; block < values.size() / type.elements; ++block) {
        type.unpack(bytes + block * type.bytes, values.data() + block * type.elements);
    }
    return std::ranges::all_of(values, [](float value) { return std::isfinite(value); });
}

}  // namespace headscope
