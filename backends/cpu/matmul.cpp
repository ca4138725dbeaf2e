// Rule: out is overwritten; with beta it is read, scaled and added to. It shares no memory with a, b or x. A sum over k
// is in F32, in an order that a device fixes by shapes and dtypes: equal operands give equal bits.
#include "backend/ops/matmul.h"
#include "backends/cpu/cpu_backend.h"
#include "backends/cpu/products.h"

namespace headscope::cpu {

namespace {

MatrixBatch batch_of(const Tensor& tensor) {
    const View4<const float> view(tensor);
    // A single row's stride can be anything, but BLAS requires a valid one.
    return {view.data, view.size[2] > 1 ? view.step[2] : view.size[3], view.step[0], view.step[1]};
}

}  // namespace

void CpuBackend::run(const Matmul& op) {
    if (op.b.dtype != DType::F32) {
        multiply_narrow(pool_, {.a = data_of<float>(op.a),
                                .a_step = op.a.stride(0),
                                .b = op.b,
                                .scales = data_of<float>(op.b_scales),
                                .out = data_of<float>(op.out),
                                .out_step = op.out.stride(0),
                                .m = op.out.dim(0),
                                .n = op.out.dim(1),
                                .k = op.a.dim(1),
                                .alpha = op.alpha,
                                .beta = op.beta});
        return;
    }
    if (op.compute == Compute::F16 || op.compute == Compute::TF32) {
        CpuReference<float>::run(op);
        return;
    }
    const View4<float> out(op.out);
    const MatrixBatch to = batch_of(op.out);
    multiply(pool_, Product{.a = batch_of(op.a),
                            .b = batch_of(op.b),
                            .out = out.data,
                            .out_row_step = to.row_step,
                            .out_outer_step = to.outer_step,
                            .out_inner_step = to.inner_step,
                            .outer = out.size[0],
                            .inner = out.size[1],
                            .m = out.size[2],
                            .n = out.size[3],
                            .k = op.a.dim(op.transpose_a ? -2 : -1),
                            .transpose_a = op.transpose_a,
                            .transpose_b = op.transpose_b,
                            .alpha = op.alpha,
                            .beta = op.beta,
                            .compute = op.compute});
}

}  // namespace headscope::cpu
