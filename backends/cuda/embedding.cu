// Embed, and its gradient as sums over runs of equal ids: no atomics. Paper 3.4 and 3.5.
//
// Rule: out is overwritten; grad_table is added to with Write::Accumulate, else rows without an id become 0. Nothing is
// in place. The gradients of one id are added in the order of its positions: no atomics, equal bits each time.
#include <algorithm>

#include "backend/ops/embedding.h"
#include "backends/cuda/cuda_backend.h"
#include "backends/cuda/dependent_launch.h"
#include "backends/cuda/grids.h"
#include "backends/cuda/reduce.h"
#include "backends/cuda/visit.h"

namespace headscope::cuda {

namespace {

template <class T>
struct EmbedKernel {
    const std::int32_t* ids;    // [rows]
    const T* table;             // [vocabulary, columns]
    const float* positions;     // [places, columns], or null
    const std::int32_t* first;  // [1], or null
    T* out;                     // [rows, columns]
    std::int64_t packs;
    std::int64_t length;
    std::int64_t columns;
    std::int64_t vocabulary;
    std::int64_t places;
    std::int64_t position_stride;
    float scale;
};

template <class T, int N>
__global__ void embed(EmbedKernel<T> p) {
    after_previous();
    const std::int64_t pack = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (pack >= p.packs) {
        return;
    }
    const std::int64_t row = pack * N / p.columns;
    const std::int64_t column = pack * N - row * p.columns;
    const std::int64_t id = p.ids[row];
    const std::int64_t position = (p.first == nullptr ? 0 : *p.first) + row % p.length;
    const bool known = id >= 0 && id < p.vocabulary;
    const bool placed = p.positions == nullptr || (position >= 0 && position < p.places);
    float values[N];
    for (int i = 0; i < N; ++i) {
        values[i] = NAN;
    }
    if ((known || id == Embed::kNoToken) && placed) {
        if (known) {
            load<N>(p.table + id * p.columns + column, values);
        }
        for (int i = 0; i < N; ++i) {
            values[i] = known ? values[i] * p.scale : 0.0F;
            if (p.positions != nullptr) {
                values[i] += p.positions[position * p.position_stride + column + i];
            }
        }
    }
    store<N>(values, p.out + pack * N);
}

// Writes EmbedGradient::starts. Index i, from 0 to count, is that of all ids above the id of index i - 1 up to its own.
// The lanes of a warp write those of one index after the other together, since the gap between two ids may be long.
__global__ void find_runs(const std::int32_t* ids, const std::int32_t* order, std::int64_t count,
                          std::int64_t vocabulary, std::int32_t* starts) {
    after_previous();
    const auto id_at = [&](std::int64_t index) -> std::int64_t {
        if (index < 0) {
            return -1;
        }
        const std::int64_t place = index < count ? order[index] : -1;
        const std::int64_t id = place < 0 || place >= count ? vocabulary : ids[place];
        return id < 0 ? -1 : id < vocabulary ? id : vocabulary;
    };
    const std::int64_t index = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    const auto lane = static_cast<int>(threadIdx.x) % kWarp;
    const auto before = static_cast<std::int32_t>(index <= count ? id_at(index - 1) : vocabulary);
    const auto own = static_cast<std::int32_t>(index <= count ? id_at(index) : vocabulary);
    for (int other = 0; other < kWarp; ++other) {
        const std::int32_t end = __shfl_sync(kWholeWarp, own, other);
        for (std::int32_t id = __shfl_sync(kWholeWarp, before, other) + 1 + lane; id <= end; id += kWarp) {
            starts[id] = static_cast<std::int32_t>(index - lane + other);
        }
    }
}

template <class T>
struct EmbedGradient {
    const std::int32_t* order;   // [count]: positions sorted by id, skipped ones at the end
    const std::int32_t* starts;  // [vocabulary + 1]: starts[id] is the first index in `order` of an id not below `id`
    const T* grad_out;           // [count, columns]
    float* grad_table;           // [vocabulary, columns]
    std::int64_t columns;
    float scale;
    bool accumulate;
};

// One block for each id. Its threads are `groups` rows of `across`: each group takes every groups-th position, each
// thread N columns of them, and the groups' sums are added in order.
template <class T, int N>
__global__ void embed_backward(EmbedGradient<T> p, int across, int groups) {
    after_previous();
    const std::int64_t id = blockIdx.x;
    const std::int32_t begin = p.starts[id];
    const std::int32_t end = p.starts[id + 1];
    if (begin == end) {  // the whole block: most of a vocabulary does not occur
        const float none[N] = {};
        for (std::int64_t column = static_cast<std::int64_t>(threadIdx.x) * N; column < p.columns && !p.accumulate;
             column += static_cast<std::int64_t>(blockDim.x) * N) {
            store<N>(none, p.grad_table + id * p.columns + column);
        }
        return;
    }
    auto* sums = shared_rest<float>();  // [groups, across * N]
    const int group = static_cast<int>(threadIdx.x) / across;
    const int lane = static_cast<int>(threadIdx.x) % across;
    for (std::int64_t tile = 0; tile < p.columns; tile += static_cast<std::int64_t>(across) * N) {
        const std::int64_t column = tile + static_cast<std::int64_t>(lane) * N;
        const bool takes_part = column < p.columns && group < groups;
        float sum[N] = {};
        for (std::int64_t index = begin + group; takes_part && index < end; index += groups) {
            float values[N];
            load<N>(p.grad_out + p.order[index] * p.columns + column, values);
            for (int i = 0; i < N; ++i) {
                sum[i] += values[i];
            }
        }
        if (takes_part) {
            store<N>(sum, sums + (group * across + lane) * N);
        }
        __syncthreads();
        if (takes_part && group == 0) {
            for (int other = 1; other < groups; ++other) {
                float values[N];
                load<N>(sums + (other * across + lane) * N, values);
                for (int i = 0; i < N; ++i) {
                    sum[i] += values[i];
                }
            }
            for (int i = 0; i < N; ++i) {
                sum[i] *= p.scale;
            }
            store<N>(sum, p.grad_table + id * p.columns + column, p.accumulate);
        }
        __syncthreads();
    }
}

}  // namespace

void CudaBackend::run(const Embed& op) {
    if (op.out.elements() == 0) {
        return;
    }
    const std::int64_t columns = op.table.dim(1);
    const bool positioned = op.positions.defined();
    visit_rows(Embed::kName, op.out.dtype, columns, {&op.table, &op.out}, [&](auto tag, auto width) {
        using T = decltype(tag);
        constexpr int kWidth = decltype(width)::value;
        const std::int64_t packs = op.out.elements() / kWidth;
        stream_.launch(Embed::kName, embed<T, kWidth>, item_grid(packs),
                       EmbedKernel<T>{data_of<std::int32_t>(op.ids), data_of<T>(op.table), data_of<float>(op.positions),
                                      data_of<std::int32_t>(op.first), data_of<T>(op.out), packs, op.ids.dim(1),
                                      columns, op.table.dim(0), positioned ? op.positions.dim(0) : 0,
                                      positioned ? op.positions.stride(0) : 0, op.scale});
    });
}

void CudaBackend::run(const EmbedBackward& op) {
    if (op.grad_table.elements() == 0) {
        return;
    }
    const std::int64_t columns = op.grad_table.dim(1);
    const std::int64_t vocabulary = op.grad_table.dim(0);
    const auto runs = scratch(static_cast<std::size_t>(vocabulary + 1) * sizeof(std::int32_t));
    auto* starts = reinterpret_cast<std::int32_t*>(runs->data());
    stream_.launch(EmbedBackward::kName, find_runs, item_grid(op.ids.elements() + 1), data_of<std::int32_t>(op.ids),
                   data_of<std::int32_t>(op.order), op.ids.elements(), vocabulary, starts);
    visit_rows(
        EmbedBackward::kName, op.grad_out.dtype, columns, {&op.grad_out, &op.grad_table}, [&](auto tag, auto width) {
            using T = decltype(tag);
            constexpr int kWidth = decltype(width)::value;
            constexpr int kThreads = 256;
            const int across = static_cast<int>(std::min<std::int64_t>(columns / kWidth, kThreads));
            const Grid grid = row_grid(vocabulary, kThreads, 1, kThreads * kWidth * sizeof(float));
            stream_.launch(
                EmbedBackward::kName, embed_backward<T, kWidth>, grid,
                EmbedGradient<T>{data_of<std::int32_t>(op.order), starts, data_of<T>(op.grad_out),
                                 data_of<float>(op.grad_table), columns, op.scale, op.write == Write::Accumulate},
                across, kThreads / across);
        });
}

}  // namespace headscope::cuda
