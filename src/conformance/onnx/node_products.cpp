// MatMul and Gemm.
#include <algorithm>

#include "backend/ops/matmul.h"
#include "conformance/onnx/node_ops.h"

namespace headscope::conformance {

namespace {

Shape shape_of(const OnnxTensor& tensor) {
    switch (tensor.rank()) {
        case 2: return {tensor.dim(0), tensor.dim(1)};
        case 3: return {tensor.dim(0), tensor.dim(1), tensor.dim(2)};
        case 4: return {tensor.dim(0), tensor.dim(1), tensor.dim(2), tensor.dim(3)};
        default: throw NotOurs("a product of tensors whose rank is not 2 to 4");
    }
}

Shape with_last(Shape shape, std::int64_t rows, std::int64_t columns) {
    shape.set(shape.rank() - 2, rows);
    shape.set(shape.rank() - 1, columns);
    return shape;
}

}  // namespace

std::vector<std::vector<double>> run_mat_mul(Backend& backend, const NodeCall& call) {
    const OnnxTensor& a = call.input(0);
    const OnnxTensor& b = call.input(1);
    const NodeDevice device(backend, OpId::Matmul, a);
    const Shape shape = shape_of(a);  // of rank 2 or more
    if (a.rank() != b.rank() || !std::equal(a.dims.begin(), a.dims.end() - 2, b.dims.begin())) {
        throw NotOurs("a product of tensors with other batches each");
    }
    const Tensor out = device.make(with_last(shape, a.dim(-2), b.dim(-1)));
    backend.run(Matmul{.a = device.put(shape, a.values), .b = device.put(shape_of(b), b.values), .out = out});
    return {device.get(out)};
}

std::vector<std::vector<double>> run_gemm(Backend& backend, const NodeCall& call) {
    const OnnxTensor& a = call.input(0);
    const OnnxTensor& b = call.input(1);
    const OnnxTensor* c = call.maybe(2);
    if (a.rank() != 2 || b.rank() != 2) {
        throw NotOurs("a product of tensors whose rank is not 2 to 4");
    }
    const NodeDevice device(backend, OpId::Matmul, a);
    const bool transpose_a = call.node.integer("transA", 0) != 0;
    const bool transpose_b = call.node.integer("transB", 0) != 0;
    const std::int64_t m = a.dim(transpose_a ? 1 : 0);
    const std::int64_t n = b.dim(transpose_b ? 0 : 1);
    const Tensor out = c == nullptr ? device.make({m, n}) : device.put({m, n}, broadcast(*c, {m, n}));
    backend.run(Matmul{.a = device.put(shape_of(a), a.values),
                       .b = device.put(shape_of(b), b.values),
                       .out = out,
                       .transpose_a = transpose_a,
                       .transpose_b = transpose_b,
                       .alpha = call.node.real("alpha", 1.0F),
                       .beta = c == nullptr ? 0.0F : call.node.real("beta", 1.0F)});
    return {device.get(out)};
}

}  // namespace headscope::conformance
