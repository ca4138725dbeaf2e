// How kernels load and store F32, F16 and BF16; sums are always F32. Also compiles for the host, where tests compare it
// with tensor/dtype.h.
#pragma once

#include <cuda_runtime.h>

#include <bit>
#include <cstdint>
#include <type_traits>

#include "tensor/dtype.h"

namespace headscope::cuda {

struct Half {
    std::uint16_t bits;
};
struct BFloat16 {
    std::uint16_t bits;
};

__host__ __device__ inline float bits_to_float(std::uint32_t bits) {
    return std::bit_cast<float>(bits);
}

__host__ __device__ inline std::uint32_t float_to_bits(float value) {
    return std::bit_cast<std::uint32_t>(value);
}

__host__ __device__ inline float to_float(float value) {
    return value;
}

__host__ __device__ inline float to_float(Half value) {
#ifdef __CUDA_ARCH__
    float result;
    asm("cvt.f32.f16 %0, %1;" : "=f"(result) : "h"(value.bits));
    return result;
#else
    return from_f16(value.bits);
#endif
}

__host__ __device__ inline float to_float(BFloat16 value) {
    return bits_to_float(static_cast<std::uint32_t>(value.bits) << 16U);
}

__host__ __device__ inline void from_float(float value, float& to) {
    to = value;
}

__host__ __device__ inline void from_float(float value, Half& to) {
#ifdef __CUDA_ARCH__
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(to.bits) : "f"(value));
#else
    to.bits = to_f16(value);
#endif
}

// To nearest, ties to even; NaN stays NaN. sm_60 to sm_75 have no instruction for it.
__host__ __device__ inline void from_float(float value, BFloat16& to) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(to.bits) : "f"(value));
#else
    const std::uint32_t bits = float_to_bits(value);
    const bool nan = (bits & 0x7FFFFFFFU) > 0x7F800000U;
    const std::uint32_t rounded = (bits + 0x7FFFU + (bits >> 16U & 1U)) >> 16U;
    to.bits = static_cast<std::uint16_t>(nan ? (bits >> 16U) | 0x40U : rounded);
#endif
}

// Two neighbours in one word, the first one lower. sm_80 and newer round both in one instruction, and any NaN to one
// NaN.
template <class T>
__host__ __device__ inline std::uint32_t pair_bits(float first, float second) {
    static_assert(sizeof(T) == sizeof(std::uint16_t));
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    std::uint32_t bits = 0;
    if constexpr (std::is_same_v<T, Half>) {
        asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(bits) : "f"(second), "f"(first));
    } else {
        asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(bits) : "f"(second), "f"(first));
    }
    return bits;
#else
    T pair[2];
    from_float(first, pair[0]);
    from_float(second, pair[1]);
    return pair[0].bits | static_cast<std::uint32_t>(pair[1].bits) << 16U;
#endif
}

// N neighbours, moved by one or two instructions; the first must be aligned for that (to at most 16 bytes).
template <class T, int N>
struct __align__(sizeof(T) * N < 16 ? sizeof(T) * N : 16) Pack {
    T value[N];
};

template <int N, class T>
__host__ __device__ inline void load(const T* from, float (&to)[N]) {
    const Pack<T, N> pack = *reinterpret_cast<const Pack<T, N>*>(from);
    for (int i = 0; i < N; ++i) {
        to[i] = to_float(pack.value[i]);
    }
}

template <int N, class T>
__host__ __device__ inline void store(const float (&from)[N], T* to) {
    Pack<T, N> pack;
    if constexpr (sizeof(T) == sizeof(std::uint16_t) && N % 2 == 0) {
        for (int i = 0; i < N; i += 2) {
            const std::uint32_t bits = pair_bits<T>(from[i], from[i + 1]);
            pack.value[i].bits = static_cast<std::uint16_t>(bits & 0xFFFFU);
            pack.value[i + 1].bits = static_cast<std::uint16_t>(bits >> 16U);
        }
    } else {
        for (int i = 0; i < N; ++i) {
            from_float(from[i], pack.value[i]);
        }
    }
    *reinterpret_cast<Pack<T, N>*>(to) = pack;
}

// Like store(). If `accumulate`, `values` are added to the present ones, and then are what was stored, unrounded.
template <int N, class T>
__host__ __device__ inline void store_sum(float (&values)[N], T* to, bool accumulate) {
    if (accumulate) {
        float present[N];
        load<N>(to, present);
        for (int i = 0; i < N; ++i) {
            values[i] += present[i];
        }
    }
    store<N>(values, to);
}

// Like store(), or added to the present values.
template <int N, class T>
__host__ __device__ inline void store(const float (&from)[N], T* to, bool accumulate) {
    float values[N];
    for (int i = 0; i < N; ++i) {
        values[i] = from[i];
    }
    store_sum<N>(values, to, accumulate);
}

}  // namespace headscope::cuda
