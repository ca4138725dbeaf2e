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

// x . weight^T for weights that are not rows of floats.
StoredProduct stored_product(const Tensor& x, const Tensor& weight, const Tensor& scales, const Tensor& out) {
    return {.a = data_of<float>(x),
            .a_step = x.stride(0),
            .b = weight,
            .scales = data_of<float>(scales),
            .out = data_of<float>(out),
            .out_step = out.stride(0),
            .m = out.dim(0),
            .n = out.dim(1),
            .k = x.dim(1)};
}

}  // namespace

void CpuBackend::run(const Matmul& op) {
    const bool in_panels = op.b.layout == WeightLayout::Panels;
    if (in_panels && (op.transpose_a || !op.transpose_b || op.compute != Compute::F32)) {
        Matmul plain = op;
        plain.b = in_rows(op.b);
        run(plain);
        return;
    }
    if (in_panels || op.b.dtype != DType::F32) {
        StoredProduct product = stored_product(op.a, op.b, op.b_scales, op.out);
        product.alpha = op.alpha;
        product.beta = op.beta;
        multiply_stored(pool_, product);
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

void CpuBackend::run(const Linear& op) {
    const bool fuses = op.activation == Activation::None || op.activation == Activation::Relu;
    if (op.weight.layout != WeightLayout::Panels || op.compute != Compute::F32 || !fuses) {
        Backend::run(op);
        return;
    }
    StoredProduct product = stored_product(op.x, op.weight, op.weight_scales, op.y);
    product.bias = data_of<float>(op.bias);
    product.relu = op.activation == Activation::Relu;
    multiply_stored(pool_, product);
}

}  // namespace headscope::cpu
