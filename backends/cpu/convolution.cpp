// Rule: unfold's out is overwritten; sum_taps adds to out with Write::Accumulate. Nothing is in place. The taps of an
// element are added in their order.
#include <algorithm>

#include "backend/ops/convolution.h"
#include "backends/cpu/clones.h"
#include "backends/cpu/cpu_backend.h"

namespace headscope::cpu {

namespace {

constexpr std::int64_t kWorthAThread = 16384;  // elements

HEADSCOPE_CLONES void add_row(float* out, const float* x, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
        out[i] += x[i];
    }
}

HEADSCOPE_CLONES void add_weighted_row(float* out, const float* x, const float* weights, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
        out[i] += weights[i] * x[i];
    }
}

// Calls body(row of out, tap, row of x) for each tap of each position, with a row of x below 0 where there is none.
template <class Op, class Body>
void for_taps(ThreadPool& pool, const Op& op, const Body& body) {
    const std::int64_t length = op.x.dim(1);
    const std::int64_t positions = op.out.dim(1);
    const std::int64_t work = std::max<std::int64_t>(std::max(op.x.dim(2), op.out.dim(2)), 1);
    const std::int32_t* lengths = data_of<std::int32_t>(op.lengths);
    const std::int32_t* ranges = data_of<std::int32_t>(op.ranges);
    pool.for_ranges(op.x.dim(0) * positions, kWorthAThread / work, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t row = begin; row < end; ++row) {
            const std::int64_t sentence = row / positions;
            const std::int64_t i = row - sentence * positions;
            const std::int64_t last = lengths == nullptr ? length : std::min<std::int64_t>(lengths[sentence], length);
            const bool padding = lengths != nullptr && i >= lengths[sentence];
            const std::int64_t low = ranges == nullptr ? 0 : std::max(ranges[2 * row], 0);
            const std::int64_t high = ranges == nullptr ? last : std::min<std::int64_t>(ranges[2 * row + 1], last);
            for (std::int64_t j = 0; j < op.taps; ++j) {
                const std::int64_t at = i + op.first + j * op.step;
                body(row, j, padding || at < low || at >= high ? -1 : sentence * length + at);
            }
        }
    });
}

}  // namespace

void CpuBackend::run(const Unfold& op) {
    const std::int64_t channels = op.x.dim(2);
    const float* x = data_of<const float>(op.x);
    float* out = data_of<float>(op.out);
    for_taps(pool_, op, [&](std::int64_t row, std::int64_t tap, std::int64_t from) {
        float* to = out + (row * op.taps + tap) * channels;
        if (from < 0) {
            std::fill_n(to, channels, 0.0F);
        } else {
            std::copy_n(x + from * channels, channels, to);
        }
    });
}

void CpuBackend::run(const SumTaps& op) {
    const std::int64_t channels = op.out.dim(2);
    const float* x = data_of<const float>(op.x);
    const float* weights = data_of<const float>(op.weights);
    float* out = data_of<float>(op.out);
    for_taps(pool_, op, [&](std::int64_t row, std::int64_t tap, std::int64_t from) {
        float* to = out + row * channels;
        if (tap == 0 && op.write == Write::Overwrite) {
            std::fill_n(to, channels, 0.0F);
        }
        if (from >= 0 && weights == nullptr) {
            add_row(to, x + (from * op.taps + tap) * channels, channels);
        } else if (from >= 0) {
            add_weighted_row(to, x + from * channels, weights + tap * channels, channels);
        }
    });
}

}  // namespace headscope::cpu
