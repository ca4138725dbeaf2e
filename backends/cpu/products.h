// Products in float: three ways to multiply, chosen by shape. Used by every op that multiplies.
#pragma once

#include <cstdint>

#include "backend/choices.h"
#include "backends/cpu/thread_pool.h"
#include "tensor/tensor.h"

namespace headscope::cpu {

// A batch of row-major matrices, with free strides between rows and between batch entries.
struct MatrixBatch {
    const float* data = nullptr;
    std::int64_t row_step = 0;
    std::int64_t outer_step = 0;
    std::int64_t inner_step = 0;
};

// out = alpha * op(a) . op(b) + beta * out for outer * inner matrices; beta = 0 never reads out.
struct Product {
    MatrixBatch a, b;
    float* out = nullptr;
    std::int64_t out_row_step = 0, out_outer_step = 0, out_inner_step = 0;
    std::int64_t outer = 1, inner = 1;
    std::int64_t m = 0, n = 0, k = 0;
    bool transpose_a = false, transpose_b = false;
    float alpha = 1.0F, beta = 0.0F;
    Compute compute = Compute::F32;  // or BF16: operands rounded first, sums in float
};

// One matrix of a product, with the sizes of a . b^T.
struct OneProduct {
    const float* a;  // [m, k]
    std::int64_t a_step;
    const float* b;  // [n, k]
    std::int64_t b_step;
    float* out;  // [m, n]
    std::int64_t out_step;
    std::int64_t m, n, k;
    float alpha, beta;
};
OneProduct one_of(const Product& product, std::int64_t outer, std::int64_t inner);

// The same for a single a . b^T with weights b [n, k], in F16, BF16, I8 or in panels.
struct StoredProduct {
    const float* a = nullptr;
    std::int64_t a_step = 0;
    Tensor b;
    const float* scales = nullptr;  // [n], for I8
    float* out = nullptr;
    std::int64_t out_step = 0;
    std::int64_t m = 0, n = 0, k = 0;
    float alpha = 1.0F, beta = 0.0F;
    // For weights in panels: [n], added to the sums, or null; then negative results become 0.
    const float* bias = nullptr;
    bool relu = false;
};

// Results depend neither on timing nor on the number of threads: the same product gives the same bits.
void multiply(ThreadPool& pool, const Product& product);
void multiply_stored(ThreadPool& pool, const StoredProduct& product);

// One F32 product (outer and inner are 1) on this thread alone, for kernels that share their work themselves.
void multiply_alone(const Product& product);

// The ways, for tests and benchmarks. A library requires rows that do not overlap; our kernels take any.
void multiply_large(ThreadPool& pool, const Product& product);      // oneDNN, slices of rows or columns for each thread
void multiply_few_rows(ThreadPool& pool, const Product& product);   // a . b^T in F32: few rows times many weights
void multiply_some_rows(ThreadPool& pool, const Product& product);  // the same of one product, for dozens of rows
void multiply_small(ThreadPool& pool, const Product& product);      // many small matrices: whole ones for each thread
void multiply_halves(ThreadPool& pool, const StoredProduct& product);  // weights widened, some columns at a time
// Integers. `best`: the last that the processor has and the shape is for; the bits are the same.
enum class IntegerWay : std::uint8_t { Plain, Pairs, Fours, Tiles };  // AVX2; four a lane (VNNI); registers of AMX
void multiply_i8(ThreadPool& pool, const StoredProduct& product, IntegerWay best = IntegerWay::Tiles);

}  // namespace headscope::cpu
