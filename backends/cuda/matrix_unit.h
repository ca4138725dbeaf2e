// The tensor cores' instructions, and the asynchronous copies that feed them (sm_80 and newer). A warp makes each call
// together. With g = lane / 4 and t = lane % 4 (PTX ISA, "Warp Level Matrix Multiply-Accumulate Instructions"):
//  - a 16 x 16 matrix A in 16 bits: at[0] holds row g, columns 2 t and 2 t + 1; at[1] the same of row g + 8; at[2] and
//    at[3] the same eight columns further on
//  - a 16 x 8 matrix B: b0 holds rows 2 t and 2 t + 1 of column g; b1 the rows eight further on
//  - a 16 x 8 sum C in F32: c[0] and c[1] are row g, columns 2 t and 2 t + 1; c[2] and c[3] the same of row g + 8
//  - in TF32, A is 16 x 8: at[0] holds row g, column t; at[1] the same of row g + 8; at[2] and at[3] the same four
//    columns further on. B is 8 x 8: b0 holds row t of column g; b1 the row four further on
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "backends/cuda/storage.h"

namespace headscope::cuda {

constexpr int kMatrixUnitSm = 80;  // the first architecture with these instructions

// Two elements of 16 bits in each word, the lower one first, or one of TF32.
struct Fragment {
    std::uint32_t at[4];
};

}  // namespace headscope::cuda

#ifndef __CUDACC__
#include "emulated_matrix_unit.h"
#else

namespace headscope::cuda {

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
// Kernels for newer cards are never launched here.
#define HEADSCOPE_MATRIX_UNIT(...) __trap()
#else
#define HEADSCOPE_MATRIX_UNIT(...) __VA_ARGS__
#endif

__device__ inline std::uint32_t shared_address(const void* shared) {
    return static_cast<std::uint32_t>(__cvta_generic_to_shared(shared));
}

// Four 8 x 8 matrices in shared memory: lanes 8 m to 8 m + 7 point at the rows of matrix m, 16 bytes each. at[m] holds
// row g, columns 2 t and 2 t + 1 of it, or of its transpose.
template <bool Transposed>
__device__ inline Fragment load_matrices(const std::uint16_t* row_of_lane) {
    Fragment to{};
    if constexpr (Transposed) {
        HEADSCOPE_MATRIX_UNIT(asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                                           : "=r"(to.at[0]), "=r"(to.at[1]), "=r"(to.at[2]), "=r"(to.at[3])
                                           : "r"(shared_address(row_of_lane))
                                           : "memory"));
    } else {
        HEADSCOPE_MATRIX_UNIT(asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                                           : "=r"(to.at[0]), "=r"(to.at[1]), "=r"(to.at[2]), "=r"(to.at[3])
                                           : "r"(shared_address(row_of_lane))
                                           : "memory"));
    }
    return to;
}

// c += A B, for T = Half or BFloat16, or in TF32 for T = float.
template <class T>
__device__ inline void multiply_add(float (&c)[4], const Fragment& a, std::uint32_t b0, std::uint32_t b1);

template <>
__device__ inline void multiply_add<Half>(float (&c)[4], const Fragment& a, std::uint32_t b0, std::uint32_t b1) {
    HEADSCOPE_MATRIX_UNIT(
        asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
            "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
            : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
            : "r"(a.at[0]), "r"(a.at[1]), "r"(a.at[2]), "r"(a.at[3]), "r"(b0), "r"(b1)));
}

template <>
__device__ inline void multiply_add<BFloat16>(float (&c)[4], const Fragment& a, std::uint32_t b0, std::uint32_t b1) {
    HEADSCOPE_MATRIX_UNIT(
        asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
            "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
            : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
            : "r"(a.at[0]), "r"(a.at[1]), "r"(a.at[2]), "r"(a.at[3]), "r"(b0), "r"(b1)));
}

template <>
__device__ inline void multiply_add<float>(float (&c)[4], const Fragment& a, std::uint32_t b0, std::uint32_t b1) {
    HEADSCOPE_MATRIX_UNIT(
        asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
            "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
            : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
            : "r"(a.at[0]), "r"(a.at[1]), "r"(a.at[2]), "r"(a.at[3]), "r"(b0), "r"(b1)));
}

// Rounded to TF32, to nearest, ties away from 0. Products ignore what TF32 has not, so without this they round to 0.
__device__ inline std::uint32_t tf32_bits(float value) {
    std::uint32_t bits = 0;
    HEADSCOPE_MATRIX_UNIT(asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(value)));
    return bits;
}

// Copies 16 bytes into shared memory, or zeros if `there` is false. They arrive at the latest when this thread has
// waited for their group; other threads see them after the barrier that follows.
__device__ inline void copy_async(void* to_shared, const void* from, bool there) {
    HEADSCOPE_MATRIX_UNIT(asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(to_shared)),
                                       "l"(from), "r"(there ? 16 : 0)
                                       : "memory"));
}

// Ends a group of copies.
__device__ inline void commit_copies() {
    HEADSCOPE_MATRIX_UNIT(asm volatile("cp.async.commit_group;" ::: "memory"));
}

// Waits for all groups of this thread but the last `Groups`.
template <int Groups>
__device__ inline void wait_for_copies() {
    HEADSCOPE_MATRIX_UNIT(asm volatile("cp.async.wait_group %0;" ::"n"(Groups) : "memory"));
}

#undef HEADSCOPE_MATRIX_UNIT

}  // namespace headscope::cuda

#endif
