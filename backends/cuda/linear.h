// Products with bias and ReLU on their way out, through cuBLASLt: one pass over the result where a product and
// BiasActivation need two.
//  - an algorithm is chosen once for each kind of call (FusedShape) and kept, so that a call costs no more than its
//    launch, and the same call gives the same bits
//  - where a sum over k is split its parts are kept in F32 and added in a step of its own, in a fixed order
#pragma once

#include <cublasLt.h>

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>

#include "backend/ops/matmul.h"
#include "backends/cuda/blas.h"
#include "backends/cuda/memory.h"
#include "backends/cuda/stream.h"

namespace headscope::cuda {

// All that the choice of an algorithm depends on.
struct FusedShape {
    std::int64_t rows = 0, in = 0, out = 0;
    std::int64_t x_row = 0, weight_row = 0;  // elements between rows
    DType operands = DType::F32;             // of x and weight
    DType result = DType::F32;               // of y and of the bias
    bool tf32 = false;
    bool bias = false;
    bool relu = false;
    // Bytes: the largest powers of two that divide the addresses, at most kMostAlignment.
    std::uint32_t x_alignment = 0, weight_alignment = 0, y_alignment = 0, bias_alignment = 0;
    auto operator<=>(const FusedShape&) const = default;
};

constexpr std::uint32_t kMostAlignment = 256;  // cuBLASLt looks for no more
std::uint32_t alignment_of(std::uintptr_t address);

// `op` with operands as they will be multiplied, its activation None or Relu; a bias of another dtype than y's will be
// rounded to a tensor of its own.
FusedShape fused_shape(const Linear& op);

class FusedProducts {
public:
    FusedProducts(Stream& stream, std::shared_ptr<CudaBuffer> workspace);
    FusedProducts(const FusedProducts&) = delete;
    FusedProducts& operator=(const FusedProducts&) = delete;
    ~FusedProducts();

    // A call made ready; null where cuBLASLt has no algorithm for this shape.
    struct Plan;
    const Plan* plan(const FusedShape& shape);

    // `plan` is that of fused_shape(op), and op's bias is of y's dtype.
    void multiply(const Plan& plan, const Linear& op);

private:
    std::unique_ptr<Plan> make_plan(const FusedShape& shape) const;

    Stream& stream_;
    std::shared_ptr<CudaBuffer> workspace_;
    Owned<cublasLtHandle_t, cublasLtDestroy> handle_;
    std::map<FusedShape, std::unique_ptr<Plan>> plans_;
};

}  // namespace headscope::cuda
