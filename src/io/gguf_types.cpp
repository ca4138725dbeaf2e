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

// A block of 32, whose scale comes first.
void code_scale(Bytes block, CodedBlock& to) {
    to.scale = static_cast<std::uint16_t>(little_endian(block, 2));
}

void code_scale_and_least(Bytes block, CodedBlock& to) {
    code_scale(block, to);
    to.least = static_cast<std::uint16_t>(little_endian(block + 2, 2));
}

// The codes of a block, from a function of their index.
template <class CodeAt>
void set_codes(CodedBlock& to, const CodeAt& code_at) {
    for (std::size_t i = 0; i < kSmall; ++i) {
        to.codes[i] = static_cast<std::int8_t>(code_at(i));
    }
}

void code_q4_0(Bytes block, CodedBlock* to) {
    code_scale(block, *to);
    to->least = to_f16(-8.0F * from_f16(to->scale));  // exact, or infinite
    set_codes(*to, [&](std::size_t i) { return nibble(block + 2, i, kSmall); });
}

void code_q4_1(Bytes block, CodedBlock* to) {
    code_scale_and_least(block, *to);
    set_codes(*to, [&](std::size_t i) { return nibble(block + 4, i, kSmall); });
}

void code_q5_0(Bytes block, CodedBlock* to) {
    code_scale(block, *to);
    set_codes(*to, [&](std::size_t i) {
        return static_cast<int>(nibble(block + 6, i, kSmall) | (bit(block + 2, i) << 4U)) - 16;
    });
}

void code_q5_1(Bytes block, CodedBlock* to) {
    code_scale_and_least(block, *to);
    set_codes(*to, [&](std::size_t i) { return nibble(block + 8, i, kSmall) | (bit(block + 4, i) << 4U); });
}

void code_q8_0(Bytes block, CodedBlock* to) {
    code_scale(block, *to);
    set_codes(*to, [&](std::size_t i) { return block[2 + i]; });
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

// Of 16 values.
int q3_k_factor(Bytes block, std::size_t group) {
    const Bytes scales = block + 96;
    const unsigned low = group < 8 ? scales[group] & 15U : unsigned{scales[group - 8]} >> 4U;
    const unsigned high = (unsigned{scales[8 + group % 4]} >> (2 * (group / 4))) & 3U;
    return static_cast<int>(low | (high << 4U)) - 32;
}

void unpack_q3_k(Bytes block, float* values) {
    const float scale = half_at(block + 108);
    for (std::size_t i = 0; i < kLarge; ++i) {
        const bool less = ((unsigned{block[i % 32]} >> (i / 32)) & 1U) == 0;
        values[i] = scale * static_cast<float>(q3_k_factor(block, i / 16)) * number(crumb(block + 32, i), less ? 4 : 0);
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

// Of 32 values.
int iq4_xs_factor(Bytes block, std::size_t group) {
    const unsigned high = little_endian(block + 2, 2);
    const unsigned low = (unsigned{block[4 + group / 2]} >> (4 * (group % 2))) & 15U;
    return static_cast<int>(low | (((high >> (2 * group)) & 3U) << 4U)) - 32;
}

void unpack_iq4_xs(Bytes block, float* values) {
    const float scale = half_at(block);
    for (std::size_t i = 0; i < kLarge; ++i) {
        const auto factor = static_cast<float>(iq4_xs_factor(block, i / 32));
        values[i] = scale * factor * kUneven[nibble(block + 8, i, kSmall)];
    }
}

// Blocks of 256 as eight of 32. The products of a scale in F16 with its factor and of that with a code are exact in
// F32, so that it does not matter in which order they are formed.
constexpr std::size_t kParts = kLarge / kSmall;
static_assert(kParts == kMostGgufParts);
constexpr std::uint16_t kSign = 0x8000;  // of an F16

std::int8_t factor(unsigned value) {
    return static_cast<std::int8_t>(value);
}

// `scale` and, if there is one, `least` are those of the whole block, of which what `least` stands for is subtracted.
template <class SetPart>
void code_parts(CodedBlock* to, Bytes scale, Bytes least, const SetPart& set) {
    for (std::size_t part = 0; part < kParts; ++part) {
        to[part].scale = static_cast<std::uint16_t>(little_endian(scale, 2));
        to[part].least =
            least == nullptr ? std::uint16_t{0} : static_cast<std::uint16_t>(little_endian(least, 2) ^ kSign);
        set(part, to[part]);
    }
}

void code_q2_k(Bytes block, CodedBlock* to) {
    code_parts(to, block + 80, block + 82, [&](std::size_t part, CodedBlock& own) {
        const Bytes factors = block + 2 * part;
        own.factors = {factor(factors[0] & 15U), factor(factors[1] & 15U), factor(unsigned{factors[0]} >> 4U),
                       factor(unsigned{factors[1]} >> 4U)};
        set_codes(own, [&](std::size_t i) { return crumb(block + 16, part * kSmall + i); });
    });
}

// With codes from 0, so that they fit 4 bits: the least value is -4 scales.
void code_q3_k(Bytes block, CodedBlock* to) {
    code_parts(to, block + 108, block + 108, [&](std::size_t part, CodedBlock& own) {
        for (std::size_t half = 0; half < 2; ++half) {
            const int scale = q3_k_factor(block, 2 * part + half);
            own.factors[half] = static_cast<std::int8_t>(scale);
            own.factors[2 + half] = static_cast<std::int8_t>(4 * scale);
        }
        set_codes(own, [&](std::size_t i) {
            return crumb(block + 32, part * kSmall + i) + 4 * ((unsigned{block[i]} >> part) & 1U);
        });
    });
}

void set_six_bits(Bytes factors, std::size_t part, CodedBlock& to) {
    const std::int8_t scale = factor(six_bits(factors, part, false));
    const std::int8_t least = factor(six_bits(factors, part, true));
    to.factors = {scale, scale, least, least};
}

void code_q4_k(Bytes block, CodedBlock* to) {
    code_parts(to, block, block + 2, [&](std::size_t part, CodedBlock& own) {
        set_six_bits(block + 4, part, own);
        set_codes(own, [&](std::size_t i) { return nibble(block + 16, part * kSmall + i, 64); });
    });
}

void code_q5_k(Bytes block, CodedBlock* to) {
    code_parts(to, block, block + 2, [&](std::size_t part, CodedBlock& own) {
        set_six_bits(block + 4, part, own);
        set_codes(own, [&](std::size_t i) {
            return nibble(block + 48, part * kSmall + i, 64) | (((unsigned{block[16 + i]} >> part) & 1U) << 4U);
        });
    });
}

void code_q6_k(Bytes block, CodedBlock* to) {
    code_parts(to, block + 208, nullptr, [&](std::size_t part, CodedBlock& own) {
        own.factors[0] = factor(block[192 + 2 * part]);
        own.factors[1] = factor(block[193 + 2 * part]);
        set_codes(own, [&](std::size_t i) {
            const std::size_t at = part * kSmall + i;
            return static_cast<int>(nibble(block, at, 128) | (crumb(block + 128, at) << 4U)) - 32;
        });
    });
}

void code_iq4_nl(Bytes block, CodedBlock* to) {
    code_scale(block, *to);
    set_codes(*to, [&](std::size_t i) { return kUneven[nibble(block + 2, i, kSmall)]; });
}

void code_iq4_xs(Bytes block, CodedBlock* to) {
    code_parts(to, block, nullptr, [&](std::size_t part, CodedBlock& own) {
        own.factors[0] = own.factors[1] = static_cast<std::int8_t>(iq4_xs_factor(block, part));
        set_codes(own, [&](std::size_t i) { return kUneven[nibble(block + 8, part * kSmall + i, kSmall)]; });
    });
}

constexpr BlockForm kFour{.bits = 4};
constexpr BlockForm kEight{.bits = 8};
constexpr BlockForm kFourWithFactors{.bits = 4, .factors = true};
constexpr BlockForm kEightWithFactors{.bits = 8, .factors = true};

constexpr std::array kTypes = {GgufType{0, "F32", 1, 4, nullptr},
                               GgufType{1, "F16", 1, 2, nullptr},
                               GgufType{30, "BF16", 1, 2, nullptr},
                               GgufType{28, "F64", 1, 8, nullptr},
                               GgufType{24, "I8", 1, 1, nullptr},
                               GgufType{25, "I16", 1, 2, nullptr},
                               GgufType{26, "I32", 1, 4, nullptr},
                               GgufType{27, "I64", 1, 8, nullptr},
                               GgufType{2, "Q4_0", kSmall, 18, unpack_q4_0, code_q4_0, kFour},
                               GgufType{3, "Q4_1", kSmall, 20, unpack_q4_1, code_q4_1, kFour},
                               GgufType{6, "Q5_0", kSmall, 22, unpack_q5_0, code_q5_0, kEight},
                               GgufType{7, "Q5_1", kSmall, 24, unpack_q5_1, code_q5_1, kEight},
                               GgufType{8, "Q8_0", kSmall, 34, unpack_q8_0, code_q8_0, kEight},
                               GgufType{10, "Q2_K", kLarge, 84, unpack_q2_k, code_q2_k, kFourWithFactors},
                               GgufType{11, "Q3_K", kLarge, 110, unpack_q3_k, code_q3_k, kFourWithFactors},
                               GgufType{12, "Q4_K", kLarge, 144, unpack_q4_k, code_q4_k, kFourWithFactors},
                               GgufType{13, "Q5_K", kLarge, 176, unpack_q5_k, code_q5_k, kEightWithFactors},
                               GgufType{14, "Q6_K", kLarge, 210, unpack_q6_k, code_q6_k, kEightWithFactors},
                               GgufType{20, "IQ4_NL", kSmall, 18, unpack_iq4_nl, code_iq4_nl, kEight},
                               GgufType{23, "IQ4_XS", kLarge, 136, unpack_iq4_xs, code_iq4_xs, kEightWithFactors}};

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
