#include <cmath>

#include "backend/compositions.h"
#include "backend/ops/layer_norm.h"
#include "backends/cpu/reference/dropout.h"
#include "backends/cpu/reference/reference.h"
#include "backends/cpu/reference/write.h"

namespace headscope {

template <class Real>
void CpuReference<Real>::run(const AddLayerNorm& op) {
    const DropoutFactor<Real> dropout(op.dropout);
    const std::int64_t length = op.x.dim(1);
    const std::int64_t columns = op.x.dim(2);
    const auto count = static_cast<Real>(columns);
    const Real* gain = data_of<Real>(op.gain);
    const Real* bias = data_of<Real>(op.bias);
    Real* means = data_of<Real>(op.mean);
    for (std::int64_t row = 0; row < op.x.dim(0) * length; ++row) {
        const Real* x = data_of<Real>(op.x) + row * columns;
        const Real* residual = op.residual.defined() ? data_of<Real>(op.residual) + row * columns : nullptr;
        Real* sum = data_of<Real>(op.sum) + row * columns;
        Real* y = data_of<Real>(op.y) + row * columns;
        Real mean = 0;
        for (std::int64_t c = 0; c < columns; ++c) {
            const Real dropped = dropout(x[c], row / length, 0, row % length, c);
            sum[c] = residual == nullptr ? dropped : residual[c] + dropped;
            mean += means == nullptr ? 0 : sum[c] / count;
        }
        Real variance = 0;
        for (std::int64_t c = 0; c < columns; ++c) {
            variance += (sum[c] - mean) * (sum[c] - mean) / count;
        }
        const Real rstd = 1 / std::sqrt(variance + Real{op.epsilon});
        for (std::int64_t c = 0; c < columns; ++c) {
            y[c] = gain[c] * (sum[c] - mean) * rstd + (bias == nullptr ? 0 : bias[c]);
        }
        if (means != nullptr) {
            means[row] = mean;
        }
        data_of<Real>(op.rstd)[row] = rstd;
    }
}

namespace {

// A row's gradient of the norm: rstd * (g - mean(g) - n * mean(g * n)), with g = gain * grad_y and n the normalised
// row. RMS norm has no mean(g).
template <class Real>
struct NormRow {
    const Real* sum;
    const Real* grad_y;
    const Real* gain;
    std::int64_t columns;
    const Real* mean;  // null for RMS norm
    Real rstd;

    Real normalised(std::int64_t c) const { return (mean == nullptr ? sum[c] : sum[c] - *mean) * rstd; }

    // mean(g) and mean(g * n)
    std::pair<Real, Real> means() const {
        Real plain = 0;
        Real weighted = 0;
        for (std::int64_t c = 0; c < columns; ++c) {
            const Real g = gain[c] * grad_y[c] / static_cast<Real>(columns);
            plain += mean == nullptr ? 0 : g;
            weighted += g * normalised(c);
        }
        return {plain, weighted};
    }
};

}  // namespace

template <class Real>
void CpuReference<Real>::run(const AddLayerNormBackward& op) {
    const DropoutFactor<Real> dropout(op.dropout);
    const std::int64_t length = op.sum.dim(1);
    const std::int64_t columns = op.sum.dim(2);
    const std::int64_t rows = op.sum.dim(0) * length;
    const auto at = [&](const Tensor& tensor, std::int64_t row) {
        return tensor.defined() ? data_of<Real>(tensor) + row * columns : nullptr;
    };
    const Real* means = data_of<Real>(op.mean);
    std::vector<Real> grad_gain(static_cast<std::size_t>(columns));
    std::vector<Real> grad_bias(static_cast<std::size_t>(columns));
    for (std::int64_t row = 0; row < rows; ++row) {
        const NormRow<Real> norm{at(op.sum, row),
                                 at(op.grad_y, row),
                                 data_of<Real>(op.gain),
                                 columns,
                                 means == nullptr ? nullptr : means + row,
                                 data_of<Real>(op.rstd)[row]};
        const auto [plain, weighted] = norm.grad_y == nullptr ? std::pair<Real, Real>{} : norm.means();
        const Real* direct = at(op.grad_sum_out, row);
        Real* grad_x = at(op.grad_x, row);
        Real* grad_residual = at(op.grad_residual, row);
        for (std::int64_t c = 0; c < columns; ++c) {
            Real grad_sum = direct == nullptr ? 0 : direct[c];
            if (norm.grad_y != nullptr) {
                const Real n = norm.normalised(c);
                grad_sum += norm.rstd * (norm.gain[c] * norm.grad_y[c] - plain - n * weighted);
                grad_gain[static_cast<std::size_t>(c)] += norm.grad_y[c] * n;
                grad_bias[static_cast<std::size_t>(c)] += norm.grad_y[c];
            }
            if (grad_x != nullptr) {
                store(grad_x[c], dropout(grad_sum, row / length, 0, row % length, c), op.write_x);
            }
            if (grad_residual != nullptr) {
                store(grad_residual[c], grad_sum, op.write_residual);
            }
        }
    }
    for (std::int64_t c = 0; c < columns; ++c) {
        store(data_of<Real>(op.grad_gain)[c], grad_gain[static_cast<std::size_t>(c)], op.write_gain);
        if (op.grad_bias.defined()) {
            store(data_of<Real>(op.grad_bias)[c], grad_bias[static_cast<std::size_t>(c)], op.write_bias);
        }
    }
    sum_columns(*this, op.grad_x, op.grad_x_sums, op.write_x_sums);
}

#define HEADSCOPE_INSTANTIATE(Real)                             \
    template void CpuReference<Real>::run(const AddLayerNorm&); \
    template void CpuReference<Real>::run(const AddLayerNormBackward&);
HEADSCOPE_INSTANTIATE(float)
HEADSCOPE_INSTANTIATE(double)
#undef HEADSCOPE_INSTANTIATE

}  // namespace headscope
