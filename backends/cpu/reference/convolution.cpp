#include <algorithm>

#include "backend/ops/convolution.h"
#include "backends/cpu/reference/reference.h"
#include "backends/cpu/reference/write.h"

namespace headscope {

namespace {

// The row of x that is tap j of position i of sentence b, or null.
template <class Real, class Op>
const Real* tap_of(const Op& op, std::int64_t b, std::int64_t i, std::int64_t j) {
    const std::int64_t at = i + op.first + j * op.step;
    bool exists = at >= 0 && at < op.x.dim(1);
    if (op.lengths.defined()) {
        exists = exists && std::max(i, at) < data_of<std::int32_t>(op.lengths)[b];
    }
    if (op.ranges.defined()) {
        const std::int32_t* range = data_of<std::int32_t>(op.ranges) + (b * op.out.dim(1) + i) * 2;
        exists = exists && at >= range[0] && at < range[1];
    }
    return exists ? data_of<Real>(op.x) + (b * op.x.dim(1) + at) * op.x.dim(2) : nullptr;
}

}  // namespace

template <class Real>
void CpuReference<Real>::run(const Unfold& op) {
    Real* out = data_of<Real>(op.out);
    for (std::int64_t b = 0; b < op.x.dim(0); ++b) {
        for (std::int64_t i = 0; i < op.out.dim(1); ++i) {
            for (std::int64_t j = 0; j < op.taps; ++j) {
                const Real* row = tap_of<Real>(op, b, i, j);
                for (std::int64_t c = 0; c < op.x.dim(2); ++c) {
                    *out++ = row == nullptr ? 0 : row[c];
                }
            }
        }
    }
}

template <class Real>
void CpuReference<Real>::run(const SumTaps& op) {
    const std::int64_t channels = op.out.dim(2);
    const Real* weights = data_of<Real>(op.weights);
    Real* out = data_of<Real>(op.out);
    for (std::int64_t b = 0; b < op.x.dim(0); ++b) {
        for (std::int64_t i = 0; i < op.out.dim(1); ++i) {
            for (std::int64_t c = 0; c < channels; ++c) {
                Real sum = 0;
                for (std::int64_t j = 0; j < op.taps; ++j) {
                    const Real* row = tap_of<Real>(op, b, i, j);
                    if (row != nullptr) {
                        sum += weights == nullptr ? row[j * channels + c] : weights[j * channels + c] * row[c];
                    }
                }
                store(*out++, sum, op.write);
            }
        }
    }
}

#define HEADSCOPE_INSTANTIATE(Real)                       \
    template void CpuReference<Real>::run(const Unfold&); \
    template void CpuReference<Real>::run(const SumTaps&);
HEADSCOPE_INSTANTIATE(float)
HEADSCOPE_INSTANTIATE(double)
#undef HEADSCOPE_INSTANTIATE

}  // namespace headscope
