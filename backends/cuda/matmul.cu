// Matmul. cuBLAS computes the products, or few_rows.h; this prepares operands: F32 is rounded to a 16-bit type on
// request, and BF16 is widened before sm_80, as are both 16-bit types if cuBLAS rejects them.
//
// Rule: out is overwritten; with beta it is read, scaled and added to. It shares no memory with a, b or x. A sum over k
// is in F32, in an order that a device fixes by shapes and dtypes: equal operands give equal bits.
#include "backend/ops/elementwise.h"
#include "backend/ops/matmul.h"
#include "backends/cuda/cuda_backend.h"

namespace headscope::cuda {

void CudaBackend::run(const Matmul& op) {
    if (op.out.elements() == 0) {
        return;
    }
    if (op.a.elements() == 0) {  // k = 0: no product
        if (op.beta == 0.0F) {
            run(Fill{.out = op.out, .value = 0.0F});
        } else {
            run(AddScaled{.a = op.out, .out = op.out, .alpha = op.beta});
        }
        return;
    }
    const DType stored = op.a.dtype;
    const bool rounds = stored == DType::F32 && (op.compute == Compute::BF16 || op.compute == Compute::F16);
    const DType wanted = !rounds ? stored : op.compute == Compute::BF16 ? DType::BF16 : DType::F16;
    Matmul product = op;
    if (rounds) {
        product.a = converted(op.a, wanted);
        product.b = converted(op.b, wanted);
    }
    // Weights lie as [out, in] in every product of decoding.
    const bool decodes = op.out.rank() == 2 && !op.transpose_a && op.transpose_b && op.beta == 0.0F;
    const FewRowsProduct few_rows{
        .x = product.a, .weight = product.b, .y = op.out, .alpha = op.alpha, .compute = op.compute};
    if (decodes && run_few_rows(Matmul::kName, few_rows)) {
        return;
    }
    const bool may_have = wanted != DType::BF16 || products_.has_bf16();
    if (may_have && products_.multiply(product)) {
        return;
    }
    // F32 holds numbers that were rounded to 16 bits exactly.
    product.a = converted(product.a, DType::F32);
    product.b = converted(product.b, DType::F32);
    product.compute = Compute::F32;
    if (op.out.dtype != DType::F32) {
        product.out = op.beta == 0.0F ? empty(op.out.shape, DType::F32) : converted(op.out, DType::F32);
    }
    products_.multiply(product);
    if (op.out.dtype != DType::F32) {
        run(Copy{.x = product.out, .out = op.out});
    }
}

Tensor CudaBackend::converted(const Tensor& x, DType dtype) {
    Tensor copy = empty(x.shape, dtype);
    run(Copy{.x = x, .out = copy});
    return copy;
}

}  // namespace headscope::cuda
