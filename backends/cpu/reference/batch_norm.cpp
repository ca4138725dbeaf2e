#include <cmath>

#include "backend/ops/batch_norm.h"
#include "backends/cpu/reference/reference.h"
#include "backends/cpu/reference/write.h"

namespace headscope {

namespace {

// Whether a row of [batch, length, columns] is measured.
template <class Op>
bool is_measured(const Op& op, std::int64_t row) {
    const std::int64_t length = op.x.dim(1);
    return op.measures && (!op.lengths.defined() || row % length < data_of<std::int32_t>(op.lengths)[row / length]);
}

template <class Op>
std::int64_t count_measured(const Op& op) {
    std::int64_t count = 0;
    for (std::int64_t row = 0; row < op.x.dim(0) * op.x.dim(1); ++row) {
        count += is_measured(op, row) ? 1 : 0;
    }
    return count;
}

}  // namespace

template <class Real>
void CpuReference<Real>::run(const BatchNorm& op) {
    const std::int64_t columns = op.x.dim(2);
    const std::int64_t rows = op.x.dim(0) * op.x.dim(1);
    const auto count = static_cast<Real>(count_measured(op));
    const Real* x = data_of<Real>(op.x);
    for (std::int64_t c = 0; c < columns; ++c) {
        Real& running_mean = data_of<Real>(op.running_mean)[c];
        Real& running_variance = data_of<Real>(op.running_variance)[c];
        Real mean = op.measures ? 0 : running_mean;
        Real variance = op.measures ? 0 : running_variance;
        for (std::int64_t row = 0; row < rows; ++row) {
            mean += is_measured(op, row) ? x[row * columns + c] / count : 0;
        }
        for (std::int64_t row = 0; row < rows; ++row) {
            const Real apart = x[row * columns + c] - mean;
            variance += is_measured(op, row) ? apart * apart / count : 0;
        }
        if (op.measures && count > 1) {
            running_mean += Real{op.momentum} * (mean - running_mean);
            running_variance += Real{op.momentum} * (variance * count / (count - 1) - running_variance);
        }
        const Real rstd = 1 / std::sqrt(variance + Real{op.epsilon});
        for (std::int64_t row = 0; row < rows; ++row) {
            data_of<Real>(op.y)[row * columns + c] =
                data_of<Real>(op.gain)[c] * (x[row * columns + c] - mean) * rstd + data_of<Real>(op.bias)[c];
        }
        data_of<Real>(op.mean)[c] = mean;
        data_of<Real>(op.rstd)[c] = rstd;
    }
}

template <class Real>
void CpuReference<Real>::run(const BatchNormBackward& op) {
    const std::int64_t columns = op.x.dim(2);
    const std::int64_t rows = op.x.dim(0) * op.x.dim(1);
    const auto count = static_cast<Real>(count_measured(op));
    const Real* grad_y = data_of<Real>(op.grad_y);
    for (std::int64_t c = 0; c < columns; ++c) {
        const Real rstd = data_of<Real>(op.rstd)[c];
        const auto normalised = [&](std::int64_t row) {
            return (data_of<Real>(op.x)[row * columns + c] - data_of<Real>(op.mean)[c]) * rstd;
        };
        Real gain = 0;
        Real bias = 0;
        for (std::int64_t row = 0; row < rows; ++row) {
            gain += grad_y[row * columns + c] * normalised(row);
            bias += grad_y[row * columns + c];
        }
        for (std::int64_t row = 0; row < rows && op.grad_x.defined(); ++row) {
            const Real shared = is_measured(op, row) ? (bias + normalised(row) * gain) / count : 0;
            const Real grad = data_of<Real>(op.gain)[c] * rstd * (grad_y[row * columns + c] - shared);
            store(data_of<Real>(op.grad_x)[row * columns + c], grad, op.write_x);
        }
        store(data_of<Real>(op.grad_gain)[c], gain, op.write_gain);
        store(data_of<Real>(op.grad_bias)[c], bias, op.write_bias);
    }
}

#define HEADSCOPE_INSTANTIATE(Real)                          \
    template void CpuReference<Real>::run(const BatchNorm&); \
    template void CpuReference<Real>::run(const BatchNormBackward&);
HEADSCOPE_INSTANTIATE(float)
HEADSCOPE_INSTANTIATE(double)
#undef HEADSCOPE_INSTANTIATE

}  // namespace headscope
