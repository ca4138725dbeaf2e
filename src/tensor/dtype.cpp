#include "tensor/dtype.h"

#include <bit>
#include <cstring>

#include "support/check.h"
#include "tensor/widen.h"

namespace headscope {

std::size_t size_of(DType dtype) {
    switch (dtype) {
        case DType::F64: return 8;
        case DType::F32:
        case DType::I32: return 4;
        case DType::F16:
        case DType::BF16: return 2;
        case DType::I8: return 1;
    }
    HEADSCOPE_CHECK(false, "unknown dtype");
}

const char* name_of(DType dtype) {
    switch (dtype) {
        case DType::F64: return "F64";
        case DType::F32: return "F32";
        case DType::I32: return "I32";
        case DType::F16: return "F16";
        case DType::BF16: return "BF16";
        case DType::I8: return "I8";
    }
    HEADSCOPE_CHECK(false, "unknown dtype");
}

std::uint16_t to_bf16(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    if ((bits & 0x7fffffffU) > 0x7f800000U) {
        return static_cast<std::uint16_t>((bits >> 16U) | 0x40U);  // quiet NaN, sign kept
    }
    const std::uint32_t tie_to_even = (bits >> 16U) & 1U;
    return static_cast<std::uint16_t>((bits + 0x7fffU + tie_to_even) >> 16U);
}

float from_bf16(std::uint16_t bits) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16U);
}

std::uint16_t to_f16(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const auto sign = static_cast<std::uint16_t>((bits >> 16U) & 0x8000U);
    const std::uint32_t magnitude = bits & 0x7fffffffU;
    if (magnitude > 0x7f800000U) {
        return static_cast<std::uint16_t>(sign | 0x7e00U);
    }
    if (magnitude >= 0x47800000U) {  // 65536 and above
        return static_cast<std::uint16_t>(sign | 0x7c00U);
    }
    if (magnitude < 0x38800000U) {  // below 2^-14: subnormal, in steps of 2^-24
        const float steps = std::bit_cast<float>(magnitude) * 16777216.0F;
        // Adding 2^23 leaves the integer part in the mantissa, rounded to even by the addition itself.
        const auto rounded = std::bit_cast<std::uint32_t>(steps + 8388608.0F) & 0x7fffffU;
        return static_cast<std::uint16_t>(sign | rounded);
    }
    const std::uint32_t tie_to_even = (magnitude >> 13U) & 1U;
    const std::uint32_t rounded = magnitude + 0xfffU + tie_to_even;  // may carry into the exponent, up to infinity
    return static_cast<std::uint16_t>(sign | ((rounded - 0x38000000U) >> 13U));
}

float from_f16(std::uint16_t bits) {
    const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000U) << 16U;
    const std::uint32_t exponent = (bits >> 10U) & 0x1fU;
    const std::uint32_t mantissa = bits & 0x3ffU;
    if (exponent == 0x1fU) {
        return std::bit_cast<float>(sign | 0x7f800000U | (mantissa << 13U));
    }
    if (exponent == 0) {
        const float magnitude = static_cast<float>(mantissa) * 5.9604644775390625e-8F;  // 2^-24
        return sign != 0 ? -magnitude : magnitude;
    }
    return std::bit_cast<float>(sign | ((exponent + 112U) << 23U) | (mantissa << 13U));
}

namespace {

template <class Widen>
void widen_each(const std::byte* from, std::span<float> to, const Widen& widened) {
    for (std::size_t i = 0; i < to.size(); ++i) {
        std::uint16_t bits = 0;
        std::memcpy(&bits, from + i * sizeof(bits), sizeof(bits));
        to[i] = widened(bits);
    }
}

}  // namespace

void widen_f16(const std::byte* from, std::span<float> to) {
    widen_each(from, to, from_f16);
}

void widen_bf16(const std::byte* from, std::span<float> to) {
    widen_each(from, to, [](std::uint16_t bits) { return from_bf16(bits); });
}

}  // namespace headscope
