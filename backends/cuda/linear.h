// Products with bias and ReLU as epilogue, through cuBLASLt: one pass over the result instead of two.
// - An algorithm is chosen once for each kind of call (FusedShape) and kept, so that a call costs only its launch, and
//   the same call gives the same bits.
// - None is chosen while a graph is recorded, where cuBLASLt 13.3 fails; nor is the product composed there, since that
//   would give other bits.
// - If a sum over k is split, its parts are kept in F32 and added in a separate step, in a fixed order.
#pragma once

#include <cublasLt.h>

#include <compare>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>

#include "backend/choices.h"
#include "backend/ops_fwd.h"
#include "backends/cuda/blas.h"
#include "backends/cuda/memory.h"
#include "backends/cuda/stream.h"

namespace headscope::cuda {

// Everything that the choice of an algorithm depends on.
struct FusedShape {
    std::int64_t rows = 0, in = 0, out = 0;
    std::int64_t x_row = 0, weight_row = 0;  // elements between rows
    DType operands = DType::F32;             // of x and weight
    DType result = DType::F32;               // of y and of the bias
    bool tf32 = false;
    bool bias = false;
    bool relu = false;
    // Of the addresses (alignment_of).
    std::uint32_t x_alignment = 0, weight_alignment = 0, y_alignment = 0, bias_alignment = 0;
    auto operator<=>(const FusedShape&) const = default;
};

// Whether op's bias must be copied to its own tensor: to be rounded to y's dtype, or for alignment. cuBLASLt's kernels
// may load it 16 bytes at a time whatever its alignment, and a misaligned load loses the device.
bool copies_bias(const Linear& op);

// The shape of `op` as it will be multiplied, assuming an aligned bias if that will be copied; its activation is None
// or Relu.
FusedShape fused_shape(const Linear& op);

class FusedProducts {
public:
    FusedProducts(Stream& stream, std::shared_ptr<CudaBuffer> workspace);
    FusedProducts(const FusedProducts&) = delete;
    FusedProducts& operator=(const FusedProducts&) = delete;
    ~FusedProducts();

    // A prepared call; null if cuBLASLt has no algorithm for this shape. NotRecordedYet if one would have to be chosen
    // while a graph is recorded.
    struct Plan;
    const Plan* plan(const FusedShape& shape);

    // `plan` is that of fused_shape(op), and op's bias needs no copy. False if cuBLASLt rejects the algorithm that it
    // chose, which can happen: then nothing was enqueued, and this shape has no plan from now on.
    bool multiply(const Plan& plan, const Linear& op);

private:
    struct Kept {
        FusedShape shape;
        std::unique_ptr<Plan> plan;
    };
    std::unique_ptr<Plan> make_plan(const FusedShape& shape) const;
    cublasStatus_t enqueue(const Plan& plan, const Linear& op);

    Stream& stream_;
    std::shared_ptr<CudaBuffer> workspace_;
    Owned<cublasLtHandle_t, cublasLtDestroy> handle_;
    std::list<Kept> plans_;  // least recently used last
    std::map<FusedShape, std::list<Kept>::iterator> places_;
};

}  // namespace headscope::cuda
