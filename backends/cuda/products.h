// Products through cuBLAS.
#pragma once

#include <cublas_v2.h>

#include <compare>
#include <cstdint>
#include <memory>
#include <set>
#include <vector>

#include "backend/ops_fwd.h"
#include "backends/cuda/blas.h"
#include "backends/cuda/memory.h"
#include "backends/cuda/stream.h"

namespace headscope::cuda {

// A cublasGemmStridedBatchedEx call: row-major out = op(a) op(b), which is column-major out^T = op(b)^T op(a)^T.
struct ProductCall {
    int m = 0, n = 0, k = 0;                               // of the row-major product
    int count = 1;                                         // matrices
    std::int64_t a = 0, b = 0, out = 0;                    // elements from the tensors' offsets
    long long a_stride = 0, b_stride = 0, out_stride = 0;  // elements between matrices
    int a_row = 0, b_row = 0, out_row = 0;                 // elements between rows
    auto operator<=>(const ProductCall&) const = default;
};

// The calls for a product of strided operands over both batch levels: one if the levels are evenly spaced, else one for
// each entry of the shorter level. Empty if there is nothing to write.
std::vector<ProductCall> product_calls(const Matmul& op);

// Everything that decides whether cuBLAS rejects a product, from its first call.
struct ProductKind {
    ProductCall call;
    DType operands = DType::F32, result = DType::F32;
    bool transpose_a = false, transpose_b = false;
    std::uint32_t a_alignment = 0, b_alignment = 0, out_alignment = 0;
    auto operator<=>(const ProductKind&) const = default;
};

class Products {
public:
    // `architecture`: 60 is sm_60.
    Products(Stream& stream, Memory& memory, int architecture);
    Products(const Products&) = delete;
    Products& operator=(const Products&) = delete;

    bool has_fast_f16() const { return architecture_ >= 70; }  // older ones multiply F16 at the speed of F32
    bool has_bf16() const { return architecture_ >= 80; }
    bool has_tf32() const { return architecture_ >= 80; }
    // For other products on the same stream, which run one after the other.
    const std::shared_ptr<CudaBuffer>& workspace() const { return workspace_; }

    // Operands of one dtype, F32, F16 or BF16; out of the same or F32. F32 is multiplied as it is, or in TF32. False if
    // cuBLAS rejects a 16-bit product, or may sum it wrongly: then nothing was enqueued, and it counts as rejected from
    // now on, so that its replacement has the same bits in a graph.
    bool multiply(const Matmul& op);

private:
    cublasStatus_t enqueue(const Matmul& op, const ProductCall& call);

    Stream& stream_;
    const int architecture_;
    std::shared_ptr<CudaBuffer> workspace_;
    Owned<cublasHandle_t, cublasDestroy> handle_;
    std::set<ProductKind> refused_;
};

}  // namespace headscope::cuda
