#include "backends/cuda/products.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "backend/ops/matmul.h"
#include "backends/cuda/blas.h"
#include "support/check.h"

namespace headscope::cuda {

namespace {

int to_int(std::int64_t value) {
    HEADSCOPE_CHECK(value >= 0 && value <= std::numeric_limits<int>::max(),
                    fmt::format("{} does not fit cuBLAS's 32 bits", value));
    return static_cast<int>(value);
}

// A dimension with one entry, or none, may have any stride.
std::int64_t batch_stride(const Tensor& tensor, int dim) {
    return tensor.rank() >= -dim && tensor.dim(dim) > 1 ? tensor.stride(dim) : 0;
}

const void* address(const Tensor& tensor, std::int64_t element) {
    const auto& buffer = static_cast<const CudaBuffer&>(*tensor.buffer);
    return buffer.data() + static_cast<std::size_t>(tensor.offset + element) * size_of(tensor.dtype);
}

std::uint32_t alignment_of(const Tensor& tensor) {
    return cuda::alignment_of(reinterpret_cast<std::uintptr_t>(address(tensor, 0)));
}

ProductKind kind_of(const Matmul& op, const ProductCall& first) {
    return {first,          op.a.dtype,         op.out.dtype,       op.transpose_a,
            op.transpose_b, alignment_of(op.a), alignment_of(op.b), alignment_of(op.out)};
}

// cuBLAS 13.0 on an H200 drops the part of a long sum past a multiple of 64 in 16-bit products with one row or column:
// the conformance case long-sums failed with 11,528 and 57,608 terms; 8,648 terms, and 64 x 64 results, were right. The
// limits below leave a margin.
bool may_drop_the_end(const Matmul& op, const ProductCall& call) {
    constexpr int kLong = 8192;
    constexpr int kFew = 64;
    return op.a.dtype != DType::F32 && call.k > kLong && call.k % 64 != 0 && std::min(call.m, call.n) < kFew;
}

}  // namespace

std::vector<ProductCall> product_calls(const Matmul& op) {
    if (op.out.elements() == 0) {
        return {};
    }
    const int rank = op.out.rank();
    ProductCall call;
    call.m = to_int(op.out.dim(-2));
    call.n = to_int(op.out.dim(-1));
    call.k = to_int(op.a.dim(op.transpose_a ? -2 : -1));
    call.a_row = to_int(row_step(op.a));
    call.b_row = to_int(row_step(op.b));
    call.out_row = to_int(row_step(op.out));
    struct Level {
        std::int64_t size, a, b, out;
    };
    const auto level = [&](int dim) {
        return rank >= -dim
                   ? Level{op.out.dim(dim), batch_stride(op.a, dim), batch_stride(op.b, dim), batch_stride(op.out, dim)}
                   : Level{1, 0, 0, 0};
    };
    Level outer = level(-4);
    Level inner = level(-3);
    const bool even =
        outer.size == 1 || inner.size == 1 ||
        (outer.a == inner.size * inner.a && outer.b == inner.size * inner.b && outer.out == inner.size * inner.out);
    if (even) {
        inner = inner.size == 1 ? outer : Level{outer.size * inner.size, inner.a, inner.b, inner.out};
        outer = {1, 0, 0, 0};
    } else if (outer.size > inner.size) {
        std::swap(outer, inner);
    }
    call.count = to_int(inner.size);
    call.a_stride = inner.a;
    call.b_stride = inner.b;
    call.out_stride = inner.out;
    std::vector<ProductCall> calls;
    for (std::int64_t i = 0; i < outer.size; ++i) {
        call.a = i * outer.a;
        call.b = i * outer.b;
        call.out = i * outer.out;
        calls.push_back(call);
    }
    return calls;
}

Products::Products(Stream& stream, Memory& memory, int architecture) : stream_(stream), architecture_(architecture) {
    cublasHandle_t handle = nullptr;
    require_blas(cublasCreate(&handle), "start");
    handle_.reset(handle);
    // An own workspace makes results repeat bit for bit and graphs recordable. NVIDIA's documentation recommends 32 MiB
    // for sm_90.
    constexpr std::size_t kWorkspaceBytes = std::size_t{32} << 20U;
    workspace_ = memory.allocate(kWorkspaceBytes);
    require_blas(cublasSetStream(handle, stream.handle()), "take a stream");
    require_blas(cublasSetWorkspace(handle, workspace_->data(), kWorkspaceBytes), "take a workspace");
    // Split sums of 16-bit products are added in F32 too.
    require_blas(cublasSetMathMode(handle, CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION), "set its precision");
}

bool Products::multiply(const Matmul& op) {
    stream_.use_device();
    const std::vector<ProductCall> calls = product_calls(op);
    if (!calls.empty() && (may_drop_the_end(op, calls.front()) || refused_.contains(kind_of(op, calls.front())))) {
        return false;
    }
    for (const ProductCall& one : calls) {
        const cublasStatus_t status = enqueue(op, one);
        // A product rejected only within a graph would have other bits outside; and one that has begun may have changed
        // `out`.
        if (refused(status) && op.a.dtype != DType::F32 && &one == &calls.front() && !stream_.captured()) {
            refused_.insert(kind_of(op, one));
            return false;
        }
        enqueued_product(stream_, Matmul::kName, status);
    }
    return true;
}

cublasStatus_t Products::enqueue(const Matmul& op, const ProductCall& call) {
    const auto transposed = [](bool yes) { return yes ? CUBLAS_OP_T : CUBLAS_OP_N; };
    const bool tf32 = op.a.dtype == DType::F32 && op.compute == Compute::TF32;
    const cublasComputeType_t compute = tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
    return cublasGemmStridedBatchedEx(
        handle_.get(), transposed(op.transpose_b), transposed(op.transpose_a), call.n, call.m, call.k, &op.alpha,
        address(op.b, call.b), data_type(op.b.dtype), call.b_row, call.b_stride, address(op.a, call.a),
        data_type(op.a.dtype), call.a_row, call.a_stride, &op.beta, const_cast<void*>(address(op.out, call.out)),
        data_type(op.out.dtype), call.out_row, call.out_stride, call.count, compute, CUBLAS_GEMM_DEFAULT);
}

}  // namespace headscope::cuda
