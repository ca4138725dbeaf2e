// Sums and maxima over the threads of a block, always in the same order. Every thread calls them and gets the result.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "backends/cuda/grids.h"

namespace headscope::cuda {

// The dynamic shared memory of every kernel; reductions use the first kReduceBytes (grids.h).
extern __shared__ __align__(16) unsigned char shared_bytes[];

constexpr unsigned kWholeWarp = 0xFFFFFFFFU;

// A kernel's own shared memory, after that of reductions.
template <class T>
__device__ inline T* shared_rest() {
    return reinterpret_cast<T*>(shared_bytes + kReduceBytes);
}

struct Sum {
    static constexpr float kIdentity = 0.0F;
    __device__ float operator()(float a, float b) const { return a + b; }
};
// NaN wins, so that it shows.
struct Maximum {
    static constexpr float kIdentity = -INFINITY;
    __device__ float operator()(float a, float b) const { return a > b || a != a ? a : b; }
};
// For floats ordered by sortable_bits().
struct LargestBits {
    static constexpr std::uint64_t kIdentity = 0;
    __device__ std::uint64_t operator()(std::uint64_t a, std::uint64_t b) const { return a > b ? a : b; }
};

// What a sum of exp(x - from) is multiplied by to become one of exp(x - to).
__device__ inline float rescale(float from, float to) {
    return from == to ? 1.0F : expf(from - to);  // also if both are infinite
}

template <class T, class Combine>
__device__ inline T reduce_warp(T value, Combine combine) {
    for (int distance = kWarp / 2; distance > 0; distance /= 2) {
        value = combine(value, __shfl_xor_sync(kWholeWarp, value, distance));
    }
    return value;
}

// For one-dimensional blocks of whole warps.
template <class T, class Combine>
__device__ inline T reduce_block(T value, Combine combine) {
    value = reduce_warp(value, combine);
    const int warps = static_cast<int>(blockDim.x) / kWarp;
    if (warps == 1) {
        return value;
    }
    auto* parts = reinterpret_cast<T*>(shared_bytes);
    const int warp = static_cast<int>(threadIdx.x) / kWarp;
    const int lane = static_cast<int>(threadIdx.x) % kWarp;
    if (lane == 0) {
        parts[warp] = value;
    }
    __syncthreads();
    value = reduce_warp(lane < warps ? parts[lane] : Combine::kIdentity, combine);
    __syncthreads();  // the next reduction reuses the memory
    return value;
}

}  // namespace headscope::cuda
