// Loops that are always unrolled.
#pragma once

#include <cuda_runtime.h>

#include <utility>

namespace headscope::cuda {

template <class Body, int... Index>
__device__ __forceinline__ void call_for_each(const Body& body, std::integer_sequence<int, Index...> /*indices*/) {
    (body(Index), ...);
}

// body(0), body(1), .. body(N - 1) unrolled, so that arrays that they index stay in registers.
template <int N, class Body>
__device__ __forceinline__ void unrolled(const Body& body) {
    call_for_each(body, std::make_integer_sequence<int, N>{});
}

}  // namespace headscope::cuda
