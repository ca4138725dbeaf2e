#include "backends/cpu/reference/reference.h"

namespace headscope {

namespace {

// What a product sees of its operand.
template <class Real>
Real operand(Compute compute, Real value) {
    switch (compute) {
        case Compute::F32: return value;
        case Compute::TF32: return static_cast<Real>(to_tf32(static_cast<double>(value)));
        case Compute::BF16: return rounded_to(DType::BF16, value);
        case Compute::F16: return rounded_to(DType::F16, value);
    }
    HEADSCOPE_CHECK(false, "unknown compute type");
}

}  // namespace

template <class Real>
void CpuReference<Real>::run(const Matmul& op) {
    const View4<Real> a(op.a);
    const View4<Real> b(op.b);
    const View4<Real> out(op.out);
    const std::int64_t depth = op.a.dim(op.transpose_a ? -2 : -1);
    const auto product = [&](std::int64_t outer, std::int64_t inner, std::int64_t row, std::int64_t column) {
        Real sum = 0;
        for (std::int64_t k = 0; k < depth; ++k) {
            const Real left = op.transpose_a ? a.at(outer, inner, k, row) : a.at(outer, inner, row, k);
            const Real right = op.transpose_b ? b.at(outer, inner, column, k) : b.at(outer, inner, k, column);
            sum += operand(op.compute, left) * operand(op.compute, right);
        }
        return sum;
    };
    for (std::int64_t i = 0; i < out.size[0]; ++i) {
        for (std::int64_t j = 0; j < out.size[1]; ++j) {
            for (std::int64_t row = 0; row < out.size[2]; ++row) {
                for (std::int64_t column = 0; column < out.size[3]; ++column) {
                    Real& to = out.at(i, j, row, column);
                    const Real value = Real{op.alpha} * product(i, j, row, column);
                    to = op.beta == 0.0F ? value : value + Real{op.beta} * to;
                }
            }
        }
    }
}

template void CpuReference<float>::run(const Matmul&);
template void CpuReference<double>::run(const Matmul&);

}  // namespace headscope
