// Attention's backward. Weights are recomputed tile by tile from the forward's log_sums, twice: by blocks that own keys
// and go over the queries of all heads that share them (grad_k, grad_v), and by blocks that own queries and go over the
// keys (grad_q). So every sum has one owner and a fixed order. Where the forward ran in TF32 and this does not (too
// little shared memory), log_sums are of scores that were rounded, so that weights differ from the forward's within the
// bounds of TF32.
#include "backend/ops/attention.h"
#include "backends/cuda/cuda_backend.h"
#include "backends/cuda/dependent_launch.h"
#include "backends/cuda/fused_attention_tiles.h"

namespace headscope::cuda {

namespace {

constexpr int kRowsOfBlock = 8;  // of delta, one for each warp

// delta[row] = the sum of grad_out * out, which equals the sum over the keys of weights * their gradient.
template <class T>
__global__ void row_products(AttentionKernel kernel, std::int64_t rows, HeadOperand<const T> grad_out,
                             HeadOperand<const T> out, float* delta) {
    after_previous();
    const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * kRowsOfBlock + threadIdx.x / kWarp;
    if (row >= rows) {
        return;  // a whole warp
    }
    const std::int64_t head = row / kernel.queries;
    const std::int64_t query = row % kernel.queries;
    const T* left = grad_out.of(head / kernel.heads, head % kernel.heads).row(query);
    const T* right = out.of(head / kernel.heads, head % kernel.heads).row(query);
    float sum = 0.0F;
    for (int column = static_cast<int>(threadIdx.x) % kWarp; column < out.columns; column += kWarp) {
        sum += to_float(left[column]) * to_float(right[column]);
    }
    sum = reduce_warp(sum, Sum{});
    if (threadIdx.x % kWarp == 0) {
        delta[row] = sum;
    }
}

// Inputs of both kernels.
template <class T>
struct BackwardOperands {
    HeadOperand<const T> q, k, v, grad_out;
    const float* log_sums;  // [batch, heads, queries]
    const float* delta;     // the same
};

// The shared memory of a block's tiles.
template <int D>
struct BackwardTiles {
    float* q;
    float* k;
    float* v;
    float* grad_out;
    float* rest;

    __device__ BackwardTiles() {
        using Tile = BackwardTile<D>;
        q = reinterpret_cast<float*>(shared_bytes);
        grad_out = q + Tile::kQueries * kPitch<D>;
        k = grad_out + Tile::kQueries * kPitch<D>;
        v = k + Tile::kKeys * kPitch<D>;
        rest = v + Tile::kKeys * kPitch<D>;
    }
};

// A thread's part of a tile: rows `line` + i * kRowStep, the keys of `lane`.
template <int D>
struct BackwardShare {
    static constexpr int kRowStep = BackwardTile<D>::kThreads / kTileLanes;
    static constexpr int kRows = BackwardTile<D>::kQueries / kRowStep;
    static constexpr int kKeys = BackwardTile<D>::kKeys / kTileLanes;
    float dropped[kRows][kKeys];      // the weights after dropout
    float grad_scores[kRows][kKeys];  // before they are scaled
};

// Computes both matrices of a tile whose q, k, v and grad_out are in shared memory. Zero at forbidden keys.
template <class T, int D>
__device__ inline BackwardShare<D> tile_gradients(const AttentionKernel& kernel, const TilePlace& place,
                                                  const BackwardTiles<D>& tiles, const BackwardOperands<T>& operands,
                                                  int first_query, int first, const SentenceMask& mask) {
    using Share = BackwardShare<D>;
    const int lane = static_cast<int>(threadIdx.x) % kTileLanes;
    const int line = static_cast<int>(threadIdx.x) / kTileLanes;
    const int first_key = first + lane * Share::kKeys;
    float scores[Share::kRows][Share::kKeys] = {};
    add_dots<D>(tiles.q + line * kPitch<D>, Share::kRowStep * kPitch<D>, tiles.k + lane * kPitch<D>,
                kTileLanes * kPitch<D>, scores);
    float grads[Share::kRows][Share::kKeys] = {};  // of the weights after dropout
    add_dots<D>(tiles.grad_out + line * kPitch<D>, Share::kRowStep * kPitch<D>, tiles.v + lane * kPitch<D>,
                kTileLanes * kPitch<D>, grads);
    Share share;
    unrolled<Share::kRows>([&](int i) {
        const int query = first_query + line + i * Share::kRowStep;
        const bool there = query < kernel.queries;
        const std::int64_t row = place.head_index * kernel.queries + query;
        const Keys allowed = there ? mask.keys_of(query) : Keys{};
        const float log_sum = there ? operands.log_sums[row] : 0.0F;
        const float delta = there ? operands.delta[row] : 0.0F;
        float weights[Share::kKeys];
        unrolled<Share::kKeys>([&](int j) {
            weights[j] = allowed.has(first_key + j) ? expf(scores[i][j] * kernel.scale - log_sum) : 0.0F;
            share.dropped[i][j] = weights[j];
        });
        drop<Share::kKeys>(kernel.dropout, place.batch, place.head, query, first_key, share.dropped[i]);
        drop<Share::kKeys>(kernel.dropout, place.batch, place.head, query, first_key, grads[i]);
        unrolled<Share::kKeys>([&](int j) {
            // The weight of a single key is 1 whatever its score, so its gradient is exactly 0, whatever out's
            // rounding.
            const float mean = allowed.count() == 1 ? grads[i][j] : delta;
            share.grad_scores[i][j] = allowed.has(first_key + j) ? weights[j] * (grads[i][j] - mean) : 0.0F;
        });
    });
    return share;
}

template <class T, int D>
__global__ void __launch_bounds__(BackwardTile<D>::kThreads)
    attend_back_to_keys(AttentionKernel kernel, int tile_count, BackwardOperands<T> operands, HeadOperand<T> grad_k,
                        HeadOperand<T> grad_v, bool accumulate_k, bool accumulate_v) {
    after_previous();
    using Tile = BackwardTile<D>;
    using Share = BackwardShare<D>;
    constexpr int kRows = Tile::kKeys / Share::kRowStep;  // slots of keys whose gradients a thread sums
    const int lane = static_cast<int>(threadIdx.x) % kTileLanes;
    const int line = static_cast<int>(threadIdx.x) / kTileLanes;
    const BackwardTiles<D> tiles;
    float* dropped = tiles.rest;                                          // [slot of a key][query]
    float* grad_scores = dropped + Tile::kKeys * Tile::kTransposedPitch;  // the same

    TilePlace place = key_tile_place(kernel, tile_count);
    const int first = place.tile * Tile::kKeys;
    const SentenceMask mask = kernel.mask.of(place.batch);
    const int limit = static_cast<int>(mask.length);
    const Queries seeing = mask.queries_between(first, first + Tile::kKeys - 1);
    load_tile<Tile::kKeys, D, Tile::kThreads, true>(operands.k.of(place.batch, place.group), first, limit, tiles.k);
    load_tile<Tile::kKeys, D, Tile::kThreads, true>(operands.v.of(place.batch, place.group), first, limit, tiles.v);
    OwnRows<kRows, D> sum_k;
    OwnRows<kRows, D> sum_v;
    for (int member = 0; member < kernel.of_group; ++member, ++place.head, ++place.head_index) {
        const HeadRows<const T> queries = operands.q.of(place.batch, place.head);
        const HeadRows<const T> grads = operands.grad_out.of(place.batch, place.head);
        for (int query = seeing.begin / Tile::kQueries * Tile::kQueries; query < seeing.end; query += Tile::kQueries) {
            const Keys seen = mask.keys_between(query, lesser(query + Tile::kQueries, kernel.queries) - 1);
            if (!seen.overlaps(first, first + Tile::kKeys)) {
                continue;
            }
            load_tile<Tile::kQueries, D, Tile::kThreads, false>(queries, query, kernel.queries, tiles.q);
            load_tile<Tile::kQueries, D, Tile::kThreads, false>(grads, query, kernel.queries, tiles.grad_out);
            __syncthreads();
            const Share share = tile_gradients<T, D>(kernel, place, tiles, operands, query, first, mask);
            unrolled<Share::kRows>([&](int i) {
                unrolled<Share::kKeys>([&](int j) {
                    const int at = (lane + j * kTileLanes) * Tile::kTransposedPitch + line + i * Share::kRowStep;
                    dropped[at] = share.dropped[i][j];
                    grad_scores[at] = share.grad_scores[i][j];
                });
            });
            __syncthreads();
            if (grad_v.data != nullptr) {
                add_product<Tile::kQueries>(dropped + line * Tile::kTransposedPitch,
                                            Share::kRowStep * Tile::kTransposedPitch, tiles.grad_out, lane, sum_v);
            }
            if (grad_k.data != nullptr) {
                add_product<Tile::kQueries>(grad_scores + line * Tile::kTransposedPitch,
                                            Share::kRowStep * Tile::kTransposedPitch, tiles.q, lane, sum_k);
            }
            __syncthreads();
        }
    }
    unrolled<kRows>([&](int i) {
        const int key = first + key_of_slot<Tile::kKeys>(line + i * Share::kRowStep);
        if (key < kernel.keys && grad_k.data != nullptr) {
            store_row<D>(sum_k.at[i], kernel.scale, grad_k.of(place.batch, place.group), key, lane, accumulate_k);
        }
        if (key < kernel.keys && grad_v.data != nullptr) {
            store_row<D>(sum_v.at[i], 1.0F, grad_v.of(place.batch, place.group), key, lane, accumulate_v);
        }
    });
}

template <class T, int D>
__global__ void __launch_bounds__(BackwardTile<D>::kThreads)
    attend_back_to_queries(AttentionKernel kernel, int tile_count, BackwardOperands<T> operands, HeadOperand<T> grad_q,
                           bool accumulate) {
    after_previous();
    using Tile = BackwardTile<D>;
    using Share = BackwardShare<D>;
    const int lane = static_cast<int>(threadIdx.x) % kTileLanes;
    const int line = static_cast<int>(threadIdx.x) / kTileLanes;
    const BackwardTiles<D> tiles;
    float* grad_scores = tiles.rest;  // [query][slot of a key]

    TilePlace place = tile_place(kernel, tile_count);
    place.tile = tile_count - 1 - place.tile;  // as in the forward
    const int first_query = place.tile * Tile::kQueries;
    const SentenceMask mask = kernel.mask.of(place.batch);
    const Keys seen = mask.keys_between(first_query, lesser(first_query + Tile::kQueries, kernel.queries) - 1);
    load_tile<Tile::kQueries, D, Tile::kThreads, false>(operands.q.of(place.batch, place.head), first_query,
                                                        kernel.queries, tiles.q);
    load_tile<Tile::kQueries, D, Tile::kThreads, false>(operands.grad_out.of(place.batch, place.head), first_query,
                                                        kernel.queries, tiles.grad_out);
    const HeadRows<const T> keys = operands.k.of(place.batch, place.group);
    const HeadRows<const T> values = operands.v.of(place.batch, place.group);
    OwnRows<Share::kRows, D> sum;
    for (int first = seen.begin / Tile::kKeys * Tile::kKeys; first < seen.end; first += Tile::kKeys) {
        load_tile<Tile::kKeys, D, Tile::kThreads, true>(keys, first, seen.end, tiles.k, ShownKeys{mask});
        load_tile<Tile::kKeys, D, Tile::kThreads, true>(values, first, seen.end, tiles.v);
        __syncthreads();
        const Share share = tile_gradients<T, D>(kernel, place, tiles, operands, first_query, first, mask);
        unrolled<Share::kRows>([&](int i) {
            unrolled<Share::kKeys>([&](int j) {
                grad_scores[(line + i * Share::kRowStep) * Tile::kWeightsPitch + lane + j * kTileLanes] =
                    share.grad_scores[i][j];
            });
        });
        __syncthreads();
        add_product<Tile::kKeys>(grad_scores + line * Tile::kWeightsPitch, Share::kRowStep * Tile::kWeightsPitch,
                                 tiles.k, lane, sum);
        __syncthreads();
    }
    unrolled<Share::kRows>([&](int i) {
        const int query = first_query + line + i * Share::kRowStep;
        if (query < kernel.queries) {
            store_row<D>(sum.at[i], kernel.scale, grad_q.of(place.batch, place.head), query, lane, accumulate);
        }
    });
}

int tiles_of(std::int64_t rows, int tile) {
    return static_cast<int>((rows + tile - 1) / tile);
}

}  // namespace

void CudaBackend::run(const AttentionBackward& op) {
    const std::int64_t batch = op.q.dim(0);
    const std::int64_t heads = op.q.dim(1);
    const std::int64_t queries = op.q.dim(2);
    const std::int64_t keys = op.k.dim(2);
    if (padded_depth(op.q.dim(3), op.v.dim(3)) == 0) {
        Backend::run(op);
        return;
    }
    if (batch * heads == 0 || run_short(op)) {
        return;
    }
    const std::int64_t rows = batch * heads * queries;
    const auto delta = scratch(static_cast<std::size_t>(rows) * sizeof(float));
    auto* sums = reinterpret_cast<float*>(delta->data());
    const char* name = AttentionBackward::kName;
    if (rows > 0) {
        visit_real(name, op.q.dtype, [&](auto tag) {
            using T = decltype(tag);
            stream_.launch(name, row_products<T>, tile_grid(1, 1, rows, kRowsOfBlock, kRowsOfBlock * kWarp, 0),
                           attention_kernel(op), rows, head_operand<const T>(op.grad_out),
                           head_operand<const T>(op.out), sums);
        });
    }
    if (run_long(op, sums)) {
        return;
    }
    visit_heads(op, [&](auto tag, auto depth) {
        using T = decltype(tag);
        constexpr int kDepth = decltype(depth)::value;
        using Tile = BackwardTile<kDepth>;
        const AttentionKernel kernel = attention_kernel(op);
        const BackwardOperands<T> operands{head_operand<const T>(op.q),       head_operand<const T>(op.k),
                                           head_operand<const T>(op.v),       head_operand<const T>(op.grad_out),
                                           data_of<const float>(op.log_sums), sums};
        if (keys > 0 && (op.grad_k.defined() || op.grad_v.defined())) {
            stream_.launch(name, attend_back_to_keys<T, kDepth>,
                           tile_grid(batch, op.k.dim(1), keys, Tile::kKeys, Tile::kThreads, Tile::kKeySharedBytes),
                           kernel, tiles_of(keys, Tile::kKeys), operands, head_operand<T>(op.grad_k),
                           head_operand<T>(op.grad_v), op.write_k == Write::Accumulate,
                           op.write_v == Write::Accumulate);
        }
        if (rows > 0 && op.grad_q.defined()) {
            stream_.launch(name, attend_back_to_queries<T, kDepth>,
                           tile_grid(batch, heads, queries, Tile::kQueries, Tile::kThreads, Tile::kQuerySharedBytes),
                           kernel, tiles_of(queries, Tile::kQueries), operands, head_operand<T>(op.grad_q),
                           op.write_q == Write::Accumulate);
        }
    });
}

}  // namespace headscope::cuda
