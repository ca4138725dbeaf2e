// Building blocks of the fused attention kernels: operands, the mask, tiles in shared memory and their products.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "backends/cuda/dropout.h"
#include "backends/cuda/fused_attention.h"
#include "backends/cuda/key_mask.h"
#include "backends/cuda/unrolled.h"
#include "backends/cuda/visit.h"

namespace headscope::cuda {

// One head of an operand: rows of contiguous elements.
template <class T>
struct HeadRows {
    T* data;
    std::int64_t step;
    int columns;
    bool wide;  // kVector<T> neighbours can be moved at once, and no row ends within them

    __device__ T* row(std::int64_t index) const { return data + index * step; }
};

// [batch, heads, rows, columns]
template <class T>
struct HeadOperand {
    T* data = nullptr;
    std::int64_t batch_step = 0, head_step = 0, row_step = 0;
    int columns = 0;
    bool wide = false;

    __device__ HeadRows<T> of(std::int64_t batch, std::int64_t head) const {
        return {data + batch * batch_step + head * head_step, row_step, columns, wide};
    }
};

__device__ inline int lesser(int a, int b) {
    return a < b ? a : b;
}

// Parameters of the kernels besides their operands.
struct AttentionKernel {
    int heads = 1;
    int of_group = 1;  // heads that share keys and values
    int queries = 0;
    int keys = 0;
    float scale = 1.0F;
    MaskKernel mask = {};
    DropoutKernel dropout = {};
};

// The tile of one head that a block works on.
struct TilePlace {
    std::int64_t head_index;  // batch * heads + head
    int batch;
    int head;
    int group;  // of the keys and values that the head reads
    int tile;
};

// The tile of queries that this block works on.
__device__ inline TilePlace tile_place(const AttentionKernel& kernel, int tiles) {
    const std::int64_t index = static_cast<std::int64_t>(blockIdx.x) / tiles;
    const auto head = static_cast<int>(index % kernel.heads);
    return {index, static_cast<int>(index / kernel.heads), head, head / kernel.of_group,
            static_cast<int>(blockIdx.x % static_cast<unsigned>(tiles))};
}

// Of keys: a block owns a tile of a group, and goes over its heads from the first, which this is.
__device__ inline TilePlace key_tile_place(const AttentionKernel& kernel, int tiles) {
    const int groups = kernel.heads / kernel.of_group;
    const std::int64_t index = static_cast<std::int64_t>(blockIdx.x) / tiles;
    const auto group = static_cast<int>(index % groups);
    return {index * kernel.of_group, static_cast<int>(index / groups), group * kernel.of_group, group,
            static_cast<int>(blockIdx.x % static_cast<unsigned>(tiles))};
}

// Keys are permuted in a tile: those of one thread are neighbours in the sequence (one draw of dropout gives several),
// while those that a warp reads at once are neighbours in memory.
template <int Keys>
__device__ inline int key_of_slot(int slot) {
    return slot % kTileLanes * (Keys / kTileLanes) + slot / kTileLanes;
}

template <int D>
constexpr int kPitch = D + static_cast<int>(kTilePadding);

// Every row.
struct AllRows {
    __device__ bool operator()(int /*row*/) const { return true; }
};

// Keys that some query may see: without ranges or a window all below the limit, otherwise there may be gaps.
struct ShownKeys {
    const SentenceMask& mask;
    __device__ bool operator()(int key) const {
        return (mask.ranges == nullptr && mask.window == 0) || mask.shows(key);
    }
};

template <int Slots, int D, int Threads, bool Permuted, int N, class T, class Wanted>
__device__ inline void load_packs(const HeadRows<T>& from, int first, int limit, float* tile, const Wanted& wanted) {
    constexpr int kPacks = D / N;
    for (int pack = static_cast<int>(threadIdx.x); pack < Slots * kPacks; pack += Threads) {
        const int slot = pack / kPacks;
        const int column = pack % kPacks * N;
        const int row = first + (Permuted ? key_of_slot<Slots>(slot) : slot);
        float values[N] = {};
        if (row < limit && column < from.columns && wanted(row)) {
            load<N>(from.row(row) + column, values);
        }
        float* to = tile + slot * kPitch<D> + column;
        constexpr int kAtOnce = N < 4 ? N : 4;
        for (int i = 0; i < N; i += kAtOnce) {
            store<kAtOnce>(*reinterpret_cast<const float(*)[kAtOnce]>(values + i), to + i);
        }
    }
}

// Rows [first, first + Slots) of an operand, with zeros from row `limit`, past the columns and in unwanted rows.
template <int Slots, int D, int Threads, bool Permuted, class T, class Wanted = AllRows>
__device__ inline void load_tile(const HeadRows<T>& from, int first, int limit, float* tile,
                                 const Wanted& wanted = {}) {
    if (from.wide) {
        load_packs<Slots, D, Threads, Permuted, kVector<T>>(from, first, limit, tile, wanted);
    } else {
        load_packs<Slots, D, Threads, Permuted, 1>(from, first, limit, tile, wanted);
    }
}

// sum[i][j] += the product of row i of `a` and row j of `b`, with rows of D columns at distance `step`.
template <int D, int Rows, int Columns>
__device__ inline void add_dots(const float* a, int step_a, const float* b, int step_b, float (&sum)[Rows][Columns]) {
    for (int d = 0; d < D; d += 4) {
        float left[Rows][4];
        unrolled<Rows>([&](int i) { load<4>(a + i * step_a + d, left[i]); });
        unrolled<Columns>([&](int j) {
            float right[4];
            load<4>(b + j * step_b + d, right);
            unrolled<Rows>([&](int i) { unrolled<4>([&](int x) { sum[i][j] += left[i][x] * right[x]; }); });
        });
    }
}

// A thread's share of Rows rows of D columns: groups of four from 4 * lane, kTileLanes groups apart.
template <int D>
constexpr int kOwnGroups = D / (4 * kTileLanes);
template <int Rows, int D>
struct OwnRows {
    float at[Rows][kOwnGroups<D>][4] = {};
};

// sum[i] += row i of `a`, of Inner numbers, times the tile `b` [Inner][D].
template <int Inner, int D, int Rows>
__device__ inline void add_product(const float* a, int step_a, const float* b, int lane, OwnRows<Rows, D>& sum) {
    for (int n = 0; n < Inner; n += 4) {
        float left[Rows][4];
        unrolled<Rows>([&](int i) { load<4>(a + i * step_a + n, left[i]); });
        unrolled<4>([&](int x) {
            unrolled<kOwnGroups<D>>([&](int group) {
                float right[4];
                load<4>(b + (n + x) * kPitch<D> + (lane + group * kTileLanes) * 4, right);
                unrolled<Rows>(
                    [&](int i) { unrolled<4>([&](int y) { sum.at[i][group][y] += left[i][x] * right[y]; }); });
            });
        });
    }
}

// Stores a thread's share of one row, times `factor`.
template <int D, class T>
__device__ inline void store_row(const float (&row)[kOwnGroups<D>][4], float factor, const HeadRows<T>& to,
                                 std::int64_t index, int lane, bool accumulate) {
    T* place = to.row(index);
    unrolled<kOwnGroups<D>>([&](int group) {
        const int column = (lane + group * kTileLanes) * 4;
        float values[4];
        unrolled<4>([&](int x) { values[x] = row[group][x] * factor; });
        if (to.wide && column < to.columns) {
            store<4>(values, place + column, accumulate);
        }
        unrolled<4>([&](int x) {
            if (!to.wide && column + x < to.columns) {
                const float value[1] = {values[x]};
                store<1>(value, place + column + x, accumulate);
            }
        });
    });
}

// Combines over the kTileLanes threads that share a row.
template <class Combine>
__device__ inline float reduce_lanes(float value, Combine combine) {
    for (int distance = kTileLanes / 2; distance > 0; distance /= 2) {
        value = combine(value, __shfl_xor_sync(kWholeWarp, value, distance));
    }
    return value;
}

template <class T>
HeadOperand<T> head_operand(const Tensor& tensor) {
    HeadOperand<T> operand;
    operand.data = data_of<T>(tensor);
    if (operand.data == nullptr) {
        return operand;
    }
    operand.batch_step = tensor.stride(0);
    operand.head_step = tensor.stride(1);
    operand.row_step = tensor.stride(2);
    operand.columns = static_cast<int>(tensor.dim(3));
    operand.wide = aligned({&tensor}, 16) && operand.columns % kVector<T> == 0;
    for (int dim = 0; dim < 3; ++dim) {
        operand.wide = operand.wide && (tensor.dim(dim) <= 1 || tensor.stride(dim) % kVector<T> == 0);
    }
    return operand;
}

template <class Op>
AttentionKernel attention_kernel(const Op& op) {
    AttentionKernel kernel;
    kernel.heads = static_cast<int>(op.q.dim(1));
    kernel.of_group = static_cast<int>(heads_of_group(op));
    kernel.queries = static_cast<int>(op.q.dim(2));
    kernel.keys = static_cast<int>(op.k.dim(2));
    kernel.scale = op.scale;
    kernel.mask = mask_kernel(op.mask, op.q.dim(2), op.k.dim(2));
    kernel.dropout = dropout_kernel(op.dropout);
    return kernel;
}

// Calls visit(T{}, Width<D>{}) with the op's storage type and padded depth.
template <class Op, class Visit>
void visit_heads(const Op& op, const Visit& visit) {
    visit_real(Op::kName, op.q.dtype, [&](auto tag) {
        switch (padded_depth(op.q.dim(3), op.v.dim(3))) {
            case 32: return visit(tag, Width<32>{});
            case 64: return visit(tag, Width<64>{});
            case 128: return visit(tag, Width<128>{});
            default: return visit(tag, Width<kDeepestHead>{});
        }
    });
}

}  // namespace headscope::cuda
