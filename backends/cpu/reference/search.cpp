#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "backend/ops/search.h"
#include "backends/cpu/reference/reference.h"

namespace headscope {

namespace {

// Larger values first; NaN last; equal ones by index.
template <class Real>
bool before(const Real* values, std::int32_t a, std::int32_t b) {
    const bool nan_a = std::isnan(values[a]);
    const bool nan_b = std::isnan(values[b]);
    if (nan_a != nan_b) {
        return nan_b;
    }
    return nan_a || values[a] == values[b] ? a < b : values[a] > values[b];
}

// NaN is left out of the sum.
template <class Real>
Real log_sum_exp_of_numbers(const Real* x, std::int64_t count) {
    Real largest = -std::numeric_limits<Real>::infinity();
    for (std::int64_t i = 0; i < count; ++i) {
        largest = x[i] > largest ? x[i] : largest;
    }
    Real total = 0;
    for (std::int64_t i = 0; i < count; ++i) {
        total += std::isnan(x[i]) ? 0 : std::exp(x[i] - largest);
    }
    return largest + std::log(total);
}

}  // namespace

template <class Real>
void CpuReference<Real>::run(const LogSoftmaxTopK& op) {
    const std::int64_t classes = op.logits.dim(1);
    const std::int64_t k = op.values.dim(1);
    std::vector<std::int32_t> order(static_cast<std::size_t>(classes));
    for (std::int64_t row = 0; row < op.logits.dim(0); ++row) {
        const Real* logits = data_of<Real>(op.logits) + row * classes;
        const Real log_total = log_sum_exp_of_numbers(logits, classes);
        std::iota(order.begin(), order.end(), 0);
        std::partial_sort(order.begin(), order.begin() + k, order.end(),
                          [&](std::int32_t a, std::int32_t b) { return before(logits, a, b); });
        for (std::int64_t i = 0; i < k; ++i) {
            const std::int32_t found = order[static_cast<std::size_t>(i)];
            data_of<std::int32_t>(op.indices)[row * k + i] = found;
            data_of<Real>(op.values)[row * k + i] = logits[found] - log_total;
        }
    }
}

template <class Real>
void CpuReference<Real>::run(const GatherRows& op) {
    visit_stored(op.x.dtype, [&](auto absent) {
        using Stored = decltype(absent);
        const bool real = op.x.dtype != DType::I32 && op.x.dtype != DType::I8;
        store_as(op.x.dtype, &absent, real ? std::numeric_limits<double>::quiet_NaN() : 0.0);
        const std::int32_t* index = data_of<std::int32_t>(op.index);
        for (std::int64_t row = 0; row < op.out.dim(0); ++row) {
            const bool exists = index[row] >= 0 && index[row] < op.x.dim(0);
            const View4<Stored> to(op.out.narrow(0, row, 1));
            const View4<Stored> from = exists ? View4<Stored>(op.x.narrow(0, index[row], 1)) : View4<Stored>();
            for_each_index(
                to, [&](auto i, auto j, auto k, auto l) { to.at(i, j, k, l) = exists ? from.at(i, j, k, l) : absent; });
        }
    });
}

#define HEADSCOPE_INSTANTIATE(Real)                               \
    template void CpuReference<Real>::run(const LogSoftmaxTopK&); \
    template void CpuReference<Real>::run(const GatherRows&);
HEADSCOPE_INSTANTIATE(float)
HEADSCOPE_INSTANTIATE(double)
#undef HEADSCOPE_INSTANTIATE

}  // namespace headscope
