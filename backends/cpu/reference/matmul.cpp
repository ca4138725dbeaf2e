#include <cmath>
#include <limits>
#include <vector>

#include "backend/ops/matmul.h"
#include "backend/quantisation.h"
#include "backends/cpu/reference/reference.h"

namespace headscope {

namespace {

// An operand's value as the product rounds it.
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

// A row as a product with I8 weights sees it: integers and their scale, which is NaN for a row with NaN or infinity.
template <class Real>
Real quantise(std::vector<Real>& row) {
    std::vector<float> values(row.size());
    for (std::size_t i = 0; i < row.size(); ++i) {
        values[i] = static_cast<float>(row[i]);
        if (!std::isfinite(values[i])) {
            return std::numeric_limits<Real>::quiet_NaN();
        }
    }
    std::vector<std::int8_t> rounded(row.size());
    const auto scale = static_cast<Real>(quantise_row(values, rounded.data()));
    row.assign(rounded.begin(), rounded.end());
    return scale;
}

// a . b^T with b stored in F16, BF16 or I8.
template <class Real>
void multiply_narrow(const Matmul& op) {
    const View4<Real> a(op.a);
    const View4<Real> out(op.out);
    const std::byte* b = first_byte(op.b);
    const std::size_t width = size_of(op.b.dtype);
    const Real* scales = data_of<Real>(op.b_scales);
    std::vector<Real> row(static_cast<std::size_t>(op.a.dim(1)));
    for (std::int64_t i = 0; i < op.out.dim(0); ++i) {
        for (std::size_t k = 0; k < row.size(); ++k) {
            row[k] = a.at(0, 0, i, static_cast<std::int64_t>(k));
        }
        const Real row_scale = scales == nullptr ? Real{1} : quantise(row);
        for (std::int64_t j = 0; j < op.out.dim(1); ++j) {
            const std::byte* weights = b + static_cast<std::size_t>(j * op.b.stride(0)) * width;
            Real sum = 0;
            for (std::size_t k = 0; k < row.size(); ++k) {
                sum += row[k] * load_as<Real>(op.b.dtype, weights + k * width);
            }
            const Real scale = scales == nullptr ? Real{1} : row_scale * scales[j];
            const Real value = Real{op.alpha} * scale * sum;
            Real& to = out.at(0, 0, i, j);
            to = op.beta == 0.0F ? value : value + Real{op.beta} * to;
        }
    }
}

}  // namespace

template <class Real>
void CpuReference<Real>::run(const Matmul& op) {
    if (op.b.dtype != kDTypeOf<Real>) {
        multiply_narrow<Real>(op);
        return;
    }
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
