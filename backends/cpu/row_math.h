// Arithmetic of the row ops: loops of 16 independent sums that compilers vectorise, and functions without branches or
// library calls.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "backends/cpu/clones.h"

namespace headscope::cpu {

// Sums and maxima use this many lanes (one 512-bit register of floats) on every processor, so that results do not
// depend on it.
constexpr std::int64_t kLanes = 16;

// Of e^x = 2^n e^r, where n is x / ln 2 to the nearest whole number and r the rest.
namespace exponential {

constexpr float kLowest = -87.33654F;  // ln of the smallest normal number
constexpr float kLog2E = 1.44269504F;
constexpr float kLn2High = 0.693359375F;  // few bits, so that its multiples are exact
constexpr float kLn2Low = -2.12194440e-4F;

// e^r for |r| <= ln(2) / 2, of a number or a vector. Taylor series; the next term is below 6e-9.
template <class Number>
HEADSCOPE_INLINE void of_rest(const Number& r, Number& to) {
    to = r * (1.0F / 5040.0F) + 1.0F / 720.0F;
    to = to * r + 1.0F / 120.0F;
    to = to * r + 1.0F / 24.0F;
    to = to * r + 1.0F / 6.0F;
    to = to * r + 0.5F;
    to = to * r + 1.0F;
    to = to * r + 1.0F;
}

}  // namespace exponential

// e^x to about one unit in the last place; 0 below the smallest normal number. Selects only between constants and
// operands, since compilers turn a selection of results into a branch, which prevents vectorisation.
HEADSCOPE_INLINE float exp_fast(float x) {
    using namespace exponential;
    constexpr float kHighest = 89.0F;  // its exponential overflows to infinity
    const float above = x > kLowest ? x : kLowest;
    const float clamped = above < kHighest ? above : kHighest;
    const float quotient = clamped * kLog2E;
    const float to_nearest = quotient < 0.0F ? -0.5F : 0.5F;
    const auto n = static_cast<std::int32_t>(quotient + to_nearest);
    const auto whole = static_cast<float>(n);
    const float r = (clamped - whole * kLn2High) - whole * kLn2Low;
    float p = 0.0F;
    of_rest(r, p);
    // 2^n as two factors, since 2^128 overflows.
    const std::int32_t half = n >> 1;
    const auto first = std::bit_cast<float>((half + 127) << 23);
    const auto second = std::bit_cast<float>((n - half + 127) << 23);
    const float counts = x < kLowest ? 0.0F : 1.0F;
    const float not_a_number = x != x ? x : 0.0F;
    return p * first * second * counts + not_a_number;
}

HEADSCOPE_INLINE float sigmoid_fast(float x) {
    return 1.0F / (1.0F + exp_fast(-x));
}

HEADSCOPE_INLINE float tanh_fast(float x) {
    return 2.0F * sigmoid_fast(2.0F * x) - 1.0F;
}

// Phi(x), the distribution function of N(0, 1): erfc(z) = exp(-z^2) P(s) / (1 + 2z) with z = |x| / sqrt(2) and
// s = (z - 5/2) / (z + 5/2), P fitted at Chebyshev points to 6e-8.
HEADSCOPE_INLINE float normal_below_fast(float x) {
    constexpr float kFar = 20.0F;  // beyond it Phi is 0 or 1, and s would be inf / inf
    const float magnitude = std::bit_cast<float>(std::bit_cast<std::int32_t>(x) & 0x7fffffff);
    const float near = magnitude < kFar ? magnitude : kFar;
    const float z = near * 0.70710678F;
    const float s = (z - 2.5F) / (z + 2.5F);
    float p = -6.391786614e-05F;
    p = p * s + 4.054889192e-04F;
    p = p * s + 4.633375209e-04F;
    p = p * s - 4.180246630e-03F;
    p = p * s + 9.467596301e-04F;
    p = p * s + 3.267757007e-02F;
    p = p * s - 1.029705384e-01F;
    p = p * s + 1.576442948e-01F;
    p = p * s - 9.902424166e-02F;
    p = p * s - 1.223574658e-01F;
    p = p * s + 1.264838180e+00F;
    const float beyond = 0.5F * exp_fast(-0.5F * x * x) * p / (1.0F + 2.0F * z);  // 1 - Phi(|x|)
    // Phi(x) = beyond for negative x, 1 - beyond for others
    const float one = x < 0.0F ? 0.0F : 1.0F;
    const float sign = x < 0.0F ? 1.0F : -1.0F;
    return one + sign * beyond;
}

// to_bf16 without a branch.
HEADSCOPE_INLINE std::uint32_t bf16_bits(float x) {
    const auto bits = std::bit_cast<std::uint32_t>(x);
    const std::uint32_t rounded = (bits + 0x7fffU + ((bits >> 16U) & 1U)) >> 16U;
    const std::uint32_t quiet = (bits >> 16U) | 0x40U;
    return (bits & 0x7fffffffU) > 0x7f800000U ? quiet : rounded;
}

// x rounded as for a BF16 product.
HEADSCOPE_INLINE float bf16_rounded(float x) {
    return std::bit_cast<float>(bf16_bits(x) << 16U);
}

// The sum of lanes, always in the same order.
HEADSCOPE_INLINE float total_of(const float* lanes) {
    float half[8];
    for (int i = 0; i < 8; ++i) {
        half[i] = lanes[i] + lanes[i + 8];
    }
    return ((half[0] + half[4]) + (half[2] + half[6])) + ((half[1] + half[5]) + (half[3] + half[7]));
}

// The sum of term(i) over [0, count), in 16 lanes.
template <class Term>
HEADSCOPE_INLINE float sum_over(std::int64_t count, Term term) {
    float lanes[kLanes] = {};
    std::int64_t i = 0;
    for (; i + kLanes <= count; i += kLanes) {
        for (std::int64_t lane = 0; lane < kLanes; ++lane) {
            lanes[lane] += term(i + lane);
        }
    }
    for (std::int64_t lane = 0; i + lane < count; ++lane) {
        lanes[lane] += term(i + lane);
    }
    return total_of(lanes);
}

// The largest number in x; NaN is ignored.
HEADSCOPE_INLINE float largest_of(const float* x, std::int64_t count) {
    const float lowest = std::bit_cast<float>(0xff800000U);
    float lanes[kLanes];
    for (float& lane : lanes) {
        lane = lowest;
    }
    std::int64_t i = 0;
    for (; i + kLanes <= count; i += kLanes) {
        for (std::int64_t lane = 0; lane < kLanes; ++lane) {
            lanes[lane] = x[i + lane] > lanes[lane] ? x[i + lane] : lanes[lane];
        }
    }
    for (std::int64_t lane = 0; i + lane < count; ++lane) {
        lanes[lane] = x[i + lane] > lanes[lane] ? x[i + lane] : lanes[lane];
    }
    for (std::int64_t half = kLanes / 2; half > 0; half /= 2) {
        for (std::int64_t lane = 0; lane < half; ++lane) {
            lanes[lane] = lanes[lane + half] > lanes[lane] ? lanes[lane + half] : lanes[lane];
        }
    }
    return lanes[0];
}

}  // namespace headscope::cpu
