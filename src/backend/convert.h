// Converts one host value to and from its stored form in any dtype.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "support/check.h"
#include "tensor/dtype.h"

namespace headscope {

// `value` rounded towards zero, with the last bit set if bits were lost: rounding that again to a 16-bit type gives the
// same as rounding `value` directly.
inline float round_to_odd(double value) {
    const auto nearest = static_cast<float>(value);
    if (std::isnan(value) || static_cast<double>(nearest) == value) {
        return nearest;
    }
    auto bits = std::bit_cast<std::uint32_t>(nearest);
    if (std::abs(static_cast<double>(nearest)) > std::abs(value)) {
        --bits;
    }
    return std::bit_cast<float>(bits | 1U);
}

// How a buffer stores a dtype, with conversions to and from a number.
struct StoredF16 {
    std::uint16_t bits;
    operator float() const { return from_f16(bits); }
    StoredF16& operator=(double value) {
        bits = to_f16(round_to_odd(value));
        return *this;
    }
};
struct StoredBF16 {
    std::uint16_t bits;
    operator float() const { return from_bf16(bits); }
    StoredBF16& operator=(double value) {
        bits = to_bf16(round_to_odd(value));
        return *this;
    }
};

// Calls visit(T{}) with the C++ type that stores `dtype`.
template <class Visit>
decltype(auto) visit_stored(DType dtype, Visit&& visit) {
    switch (dtype) {
        case DType::F64: return visit(double{});
        case DType::F32: return visit(float{});
        case DType::F16: return visit(StoredF16{});
        case DType::BF16: return visit(StoredBF16{});
        case DType::I8: return visit(std::int8_t{});
        case DType::I32: return visit(std::int32_t{});
    }
    HEADSCOPE_CHECK(false, "unknown dtype");
}

// Reads and writes the number stored at a byte address.
template <class T>
T load_as(DType dtype, const void* from) {
    return visit_stored(dtype, [&](auto stored) {
        std::memcpy(&stored, from, sizeof(stored));
        return static_cast<T>(stored);
    });
}

template <class T>
void store_as(DType dtype, void* to, T value) {
    visit_stored(dtype, [&](auto stored) {
        using Stored = decltype(stored);
        if constexpr (std::is_arithmetic_v<Stored>) {
            stored = static_cast<Stored>(value);
        } else {
            stored = static_cast<double>(value);
        }
        std::memcpy(to, &stored, sizeof(stored));
    });
}

// `value` rounded to `dtype`.
template <class T>
T rounded_to(DType dtype, T value) {
    if (dtype == DType::BF16) {
        return static_cast<T>(from_bf16(to_bf16(round_to_odd(static_cast<double>(value)))));
    }
    if (dtype == DType::F16) {
        return static_cast<T>(from_f16(to_f16(round_to_odd(static_cast<double>(value)))));
    }
    return value;
}

// `value` rounded to TF32, 10 bits of fraction: to nearest, ties to even.
inline float to_tf32(double value) {
    constexpr std::uint32_t kLost = 13;  // of F32's 23 bits
    const float once = round_to_odd(value);
    auto bits = std::bit_cast<std::uint32_t>(once);
    if (!std::isfinite(once)) {
        return once;
    }
    bits += (1U << (kLost - 1)) - 1 + (bits >> kLost & 1U);
    return std::bit_cast<float>(bits >> kLost << kLost);
}

}  // namespace headscope
