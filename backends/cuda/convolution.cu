// Unfold and SumTaps: each thread has N neighbouring channels of a position, for Unfold of one tap of it.
//
// Rule: unfold's out is overwritten; sum_taps adds to out with Write::Accumulate. Nothing is in place. The taps of an
// element are added in their order.
#include "backend/ops/convolution.h"
#include "backends/cuda/cuda_backend.h"
#include "backends/cuda/dependent_launch.h"
#include "backends/cuda/grids.h"
#include "backends/cuda/visit.h"

namespace headscope::cuda {

namespace {

struct Taps {
    const std::int32_t* lengths;  // [batch], or null
    const std::int32_t* ranges;   // [batch, positions, 2], or null
    std::int64_t packs;           // threads with work
    std::int64_t length;
    std::int64_t positions;
    std::int64_t channels;
    std::int64_t taps;
    std::int64_t first;
    std::int64_t step;

    // The row of x that is tap j of a row of out, below 0 if there is none.
    __device__ std::int64_t row_of(std::int64_t row, std::int64_t j) const {
        const std::int64_t sentence = row / positions;
        const std::int64_t i = row - sentence * positions;
        const std::int64_t at = i + first + j * step;
        const bool padding = lengths != nullptr && (i >= lengths[sentence] || at >= lengths[sentence]);
        const bool apart = ranges != nullptr && (at < ranges[2 * row] || at >= ranges[2 * row + 1]);
        return padding || apart || at < 0 || at >= length ? -1 : sentence * length + at;
    }
};

template <class Op>
Taps taps_of(const Op& op, std::int64_t channels, std::int64_t packs) {
    return {data_of<std::int32_t>(op.lengths),
            data_of<std::int32_t>(op.ranges),
            packs,
            op.x.dim(1),
            op.out.dim(1),
            channels,
            op.taps,
            op.first,
            op.step};
}

template <class T, int N>
__global__ void unfold(Taps p, const T* x, T* out) {
    after_previous();
    const std::int64_t pack = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (pack >= p.packs) {
        return;
    }
    const std::int64_t place = pack * N / p.channels;  // a tap of a row
    const std::int64_t channel = pack * N - place * p.channels;
    const std::int64_t from = p.row_of(place / p.taps, place % p.taps);
    float values[N] = {};
    if (from >= 0) {
        load<N>(x + from * p.channels + channel, values);
    }
    store<N>(values, out + pack * N);
}

template <class T, int N>
__global__ void sum_taps(Taps p, const T* x, const float* weights, T* out, bool accumulate) {
    after_previous();
    const std::int64_t pack = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (pack >= p.packs) {
        return;
    }
    const std::int64_t row = pack * N / p.channels;
    const std::int64_t channel = pack * N - row * p.channels;
    float sum[N] = {};
    for (std::int64_t j = 0; j < p.taps; ++j) {
        const std::int64_t from = p.row_of(row, j);
        if (from < 0) {
            continue;
        }
        float values[N];
        load<N>(x + (weights == nullptr ? from * p.taps + j : from) * p.channels + channel, values);
        for (int i = 0; i < N; ++i) {
            sum[i] += weights == nullptr ? values[i] : weights[j * p.channels + channel + i] * values[i];
        }
    }
    store<N>(sum, out + pack * N, accumulate);
}

}  // namespace

void CudaBackend::run(const Unfold& op) {
    if (op.out.elements() == 0) {
        return;
    }
    visit_rows(Unfold::kName, op.x.dtype, op.x.dim(2), {&op.x, &op.out}, [&](auto tag, auto width) {
        using T = decltype(tag);
        constexpr int kWidth = decltype(width)::value;
        const std::int64_t packs = op.out.elements() / kWidth;
        stream_.launch(Unfold::kName, unfold<T, kWidth>, item_grid(packs), taps_of(op, op.x.dim(2), packs),
                       data_of<T>(op.x), data_of<T>(op.out));
    });
}

void CudaBackend::run(const SumTaps& op) {
    if (op.out.elements() == 0) {
        return;
    }
    visit_rows(SumTaps::kName, op.x.dtype, op.out.dim(2), {&op.x, &op.out}, [&](auto tag, auto width) {
        using T = decltype(tag);
        constexpr int kWidth = decltype(width)::value;
        const std::int64_t packs = op.out.elements() / kWidth;
        stream_.launch(SumTaps::kName, sum_taps<T, kWidth>, item_grid(packs), taps_of(op, op.out.dim(2), packs),
                       data_of<T>(op.x), data_of<float>(op.weights), data_of<T>(op.out), op.write == Write::Accumulate);
    });
}

}  // namespace headscope::cuda
