// The backward of longer attention on tensor cores (long_attention.h), from the forward's log_sums. Weights are
// computed again tile by tile, twice, as in fused_attention_backward.cu: so every sum has one owner and a fixed order.
// Scores of blocks that own keys are transposed, [key][query]: as the products leave them, both matrices of a tile are
// the left operands of what follows, and never go through shared memory.
#include <algorithm>

#include "backend/ops/attention.h"
#include "backends/cuda/cuda_backend.h"
#include "backends/cuda/dependent_launch.h"
#include "backends/cuda/long_attention_tiles.h"
#include "backends/cuda/short_attention_launch.h"

namespace headscope::cuda {

namespace {

constexpr int kPassingTiles = kPassingRows / 8;

template <class T>
struct LongBackInputs {
    HeadOperand<const T> q, k, v, grad_out;
    const float* log_sums;  // [batch, heads, queries]
    const float* delta;     // the same: of each query, the sum of its weights times their gradient
};

// What a gradient needs to know of one query.
struct __align__(16) QueryRow {
    int begin = 0;  // of the keys that it sees
    int end = 0;
    float log_sum = 0.0F;  // in powers of 2
    float delta = 0.0F;
};
static_assert(sizeof(QueryRow) == LongBackLayout::kRowBytes);

template <class T>
__device__ inline QueryRow query_row(const AttentionKernel& kernel, const SentenceMask& mask, const TilePlace& place,
                                     const LongBackInputs<T>& inputs, int query) {
    if (query >= kernel.queries) {
        return {};
    }
    const Keys allowed = mask.keys_of(query);
    const std::int64_t row = place.head_index * kernel.queries + query;
    return {allowed.begin, allowed.end, inputs.log_sums[row] * kLog2E, inputs.delta[row]};
}

// A score becomes its weight after dropout, and `grad`, which is that of this weight, becomes that of the score.
__device__ inline void score_gradient(const AttentionKernel& kernel, const QueryRow& row, int key, bool kept,
                                      float& score, float& grad) {
    const bool allowed = row.begin <= key && key < row.end;
    const float factor = kept ? kernel.dropout.scale : 0.0F;
    const float weight = exp2f(score * (kernel.scale * kLog2E) - row.log_sum);
    const float of_weight = kept ? grad * factor : 0.0F;
    // The weight of a single key is 1 whatever its score, so its gradient is exactly 0, whatever out's rounding.
    const float mean = row.end - row.begin == 1 ? of_weight : row.delta;
    score = allowed ? weight * factor : 0.0F;
    grad = allowed ? weight * (of_weight - mean) : 0.0F;
}

// A warp, its 16 rows of those that its block owns, and the tiles of the block.
template <class T, int D>
struct LongBackBlock {
    const LongBackLayout& layout;
    int warp = static_cast<int>(threadIdx.x) / kWarp;
    int first = warp * kTileRows;

    __device__ explicit LongBackBlock(const LongBackLayout& of) : layout(of) {}
    __device__ SharedTile<T> own(int operand) const { return at(layout.own(operand)); }
    __device__ SharedTile<T> passing(int stage, int operand) const { return at(layout.passing(stage, operand)); }
    __device__ QueryRow* rows(int stage) const {
        return reinterpret_cast<QueryRow*>(shared_bytes + layout.rows(stage));
    }
    __device__ std::uint8_t* kept() const { return shared_bytes + layout.kept(warp); }

    // Starts to copy 64 rows of two operands from `row` on, or those that pass at a time.
    __device__ void copy_own(const HeadRows<const T>& a, const HeadRows<const T>& b, int row, int limit) const {
        copy_rows<D>(rows_after(a, row), kLongTile, limit - row, own(0));
        copy_rows<D>(rows_after(b, row), kLongTile, limit - row, own(1));
        commit_copies();
    }
    __device__ void copy_passing(const HeadRows<const T>& a, const HeadRows<const T>& b, int row, int limit,
                                 int stage) const {
        copy_rows<D>(rows_after(a, row), kPassingRows, limit - row, passing(stage, 0));
        copy_rows<D>(rows_after(b, row), kPassingRows, limit - row, passing(stage, 1));
        commit_copies();
    }
    // Stores the sums of the warp's rows, from `row` of the operand on. They go through the warp's own rows.
    __device__ void store(const RowSums<D>& sums, float factor, int row, int limit, const HeadRows<T>& to,
                          bool accumulate) const {
        store_rows<D>(sums, factor, own(0), first, limit - row, rows_after(to, row), accumulate);
    }

private:
    __device__ SharedTile<T> at(int place) const {
        return {reinterpret_cast<T*>(shared_bytes + place), layout.pitch()};
    }
};

// Draws for the queries that pass and the warp's 16 keys: of each eight keys, a byte for each query.
__device__ inline void draw_passing(const AttentionKernel& kernel, const TilePlace& place, int first_query,
                                    int first_key, std::uint8_t* kept) {
    __syncwarp();
    for (int i = static_cast<int>(threadIdx.x) % kWarp; i < 2 * kPassingRows; i += kWarp) {
        kept[i] = kept_of_eight(kernel.dropout, place.batch, place.head, first_query + i % kPassingRows,
                                first_key / 8 + i / kPassingRows);
    }
    __syncwarp();
}

template <class T, int D>
__global__ void __launch_bounds__(kLongWarps* kWarp, long_back_blocks(D* int{sizeof(T)}))
    attend_long_back_to_keys(AttentionKernel kernel, LongBackLayout layout, int tiles, LongBackInputs<T> inputs,
                             HeadOperand<T> grad_k, HeadOperand<T> grad_v, bool accumulate_k, bool accumulate_v) {
    after_previous();
    using Block = LongBackBlock<T, D>;
    const Block block(layout);
    TilePlace place = key_tile_place(kernel, tiles);
    const int first_key = place.tile * kLongTile;
    const int own_key = first_key + block.first;
    // Read again for each tile: the registers that it would hold are needed.
    const auto mask = [&] { return kernel.mask.of(place.batch); };
    const Queries seeing = mask().queries_between(first_key, first_key + kLongTile - 1);
    const auto seen_from = [&](int query) {
        return mask().keys_between(query, lesser(query + kPassingRows, kernel.queries) - 1);
    };
    // The first queries from `query` on that see some of the block's keys.
    const auto next = [&](int query) {
        while (query < seeing.end && !seen_from(query).overlaps(first_key, first_key + kLongTile)) {
            query += kPassingRows;
        }
        return query;
    };
    const auto copy_queries = [&](int query, int stage) {
        block.copy_passing(inputs.q.of(place.batch, place.head), inputs.grad_out.of(place.batch, place.head), query,
                           kernel.queries, stage);
        for (int i = static_cast<int>(threadIdx.x); i < kPassingRows; i += static_cast<int>(blockDim.x)) {
            block.rows(stage)[i] = query_row(kernel, mask(), place, inputs, query + i);
        }
    };
    block.copy_own(inputs.k.of(place.batch, place.group), inputs.v.of(place.batch, place.group), first_key,
                   static_cast<int>(mask().length));
    RowSums<D> sums_k;
    RowSums<D> sums_v;
    int stage = 0;
    // The stage that a head's first queries go to is free: since it was used, all warps have met.
    for (int member = 0; member < kernel.of_group; ++member, ++place.head, ++place.head_index) {
        int query = next(seeing.begin / kPassingRows * kPassingRows);
        if (query < seeing.end) {
            copy_queries(query, stage);
        }
        while (query < seeing.end) {
            const int then = next(query + kPassingRows);
            wait_for_copies<0>();
            __syncthreads();  // this stage is there, and no warp uses the other any more
            if (then < seeing.end) {
                copy_queries(then, 1 - stage);
            }
            if (seen_from(query).overlaps(own_key, own_key + kTileRows)) {
                const int pairs = lesser(row_tiles(kernel.queries - query), kPassingRows / kTileRows);
                ShortScores<kPassingTiles> weights;
                ShortScores<kPassingTiles> grads;
                add_scores<D>(block.own(0), block.first, block.passing(stage, 0), pairs, weights);
                add_scores<D>(block.own(1), block.first, block.passing(stage, 1), pairs, grads);
                if (kernel.dropout.on) {
                    draw_passing(kernel, place, query, own_key, block.kept());
                }
                for_tiles<kPassingTiles>(pairs, [&](int tile) {
                    unrolled<2>([&](int odd) {
                        const int passing = key_in_tile(tile, odd);
                        const QueryRow row = block.rows(stage)[passing];
                        unrolled<2>([&](int half) {
                            const bool kept =
                                !kernel.dropout.on ||
                                (block.kept()[half * kPassingRows + passing] >> (threadIdx.x % kWarp / 4) & 1U) != 0;
                            score_gradient(kernel, row, short_query(own_key, half), kept,
                                           weights.at[tile][2 * half + odd], grads.at[tile][2 * half + odd]);
                        });
                    });
                });
                if (grad_v.data != nullptr) {
                    add_weighed(left_weights<T>(weights), pairs, block.passing(stage, 1), sums_v);
                }
                if (grad_k.data != nullptr) {
                    add_weighed(left_weights<T>(grads), pairs, block.passing(stage, 0), sums_k);
                }
            }
            query = then;
            stage = 1 - stage;
        }
    }
    wait_for_copies<0>();
    __syncthreads();  // without any query the keys may still arrive, and results go through their tile
    if (grad_k.data != nullptr) {
        block.store(sums_k, kernel.scale, first_key, kernel.keys, grad_k.of(place.batch, place.group), accumulate_k);
    }
    if (grad_v.data != nullptr) {
        block.store(sums_v, 1.0F, first_key, kernel.keys, grad_v.of(place.batch, place.group), accumulate_v);
    }
}

template <class T, int D>
__global__ void __launch_bounds__(kLongWarps* kWarp, long_back_blocks(D* int{sizeof(T)}))
    attend_long_back_to_queries(AttentionKernel kernel, LongBackLayout layout, int tiles, LongBackInputs<T> inputs,
                                HeadOperand<T> grad_q, bool accumulate) {
    after_previous();
    using Block = LongBackBlock<T, D>;
    const Block block(layout);
    TilePlace place = tile_place(kernel, tiles);
    place.tile = tiles - 1 - place.tile;  // as in the forward
    const int first_query = place.tile * kLongTile;
    const int own_query = first_query + block.first;
    const SentenceMask mask = kernel.mask.of(place.batch);
    const Keys seen = mask.keys_between(first_query, lesser(first_query + kLongTile, kernel.queries) - 1);
    const Keys own_seen = own_query < kernel.queries
                              ? mask.keys_between(own_query, lesser(own_query + kTileRows, kernel.queries) - 1)
                              : Keys{};
    const ShortRows all = short_rows(mask, kernel.queries, own_query);
    QueryRow own_rows[2];
    for (int half = 0; half < 2; ++half) {
        own_rows[half] = query_row(kernel, mask, place, inputs, short_query(own_query, half));
    }
    const HeadRows<const T> keys = inputs.k.of(place.batch, place.group);
    const HeadRows<const T> values = inputs.v.of(place.batch, place.group);
    block.copy_own(inputs.q.of(place.batch, place.head), inputs.grad_out.of(place.batch, place.head), first_query,
                   kernel.queries);
    RowSums<D> sums;
    int stage = 0;
    const int begin = seen.begin / kPassingRows * kPassingRows;
    block.copy_passing(keys, values, begin, seen.end, stage);
    for (int key = begin; key < seen.end; key += kPassingRows) {
        wait_for_copies<0>();
        __syncthreads();  // this stage is there, and no warp uses the other any more
        if (key + kPassingRows < seen.end) {
            block.copy_passing(keys, values, key + kPassingRows, seen.end, 1 - stage);
        }
        clear_hidden_rows<D>(mask, key, kPassingRows, seen.end, block.passing(stage, 0));
        const ShortRows rows = rows_from<kPassingRows>(all, own_seen, key);
        ShortScores<kPassingTiles> scores;
        ShortScores<kPassingTiles> grads;
        add_scores<D>(block.own(0), block.first, block.passing(stage, 0), rows.pairs, scores);
        add_scores<D>(block.own(1), block.first, block.passing(stage, 1), rows.pairs, grads);
        const KeptRows<kPassingTiles> kept(draw_tile<kPassingRows>(kernel, place, own_query, key, block.kept()), 0,
                                           kTileRows);
        for_tiles<kPassingTiles>(rows.pairs, [&](int tile) {
            unrolled<4>([&](int i) {
                score_gradient(kernel, own_rows[i / 2], key + key_in_tile(tile, i), kept.has(tile, i),
                               scores.at[tile][i], grads.at[tile][i]);
            });
        });
        add_weighed(left_weights<T>(grads), rows.pairs, block.passing(stage, 0), sums);
        stage = 1 - stage;
    }
    wait_for_copies<0>();
    __syncthreads();  // as in the other kernel
    block.store(sums, kernel.scale, first_query, kernel.queries, grad_q.of(place.batch, place.head), accumulate);
}

}  // namespace

bool CudaBackend::run_long(const AttentionBackward& op, const float* delta) {
    const std::int64_t queries = op.q.dim(2);
    const std::int64_t keys = op.k.dim(2);
    const int depth = padded_depth(op.q.dim(3), op.v.dim(3));
    const auto element = static_cast<int>(size_of(op.q.dtype));
    const LongBackLayout of_keys{.depth = depth, .owns_keys = true, .element = element};
    const LongBackLayout of_queries{.depth = depth, .element = element};
    const bool drops = op.dropout.rate > 0.0F;
    if (queries == 0 || keys == 0 || depth * element > kMostBackRowBytes || !may_round(op) ||
        !suits_matrix_unit(Kernel::LongAttentionBackward, of_keys.bytes(drops),
                           {&op.q, &op.k, &op.v, &op.grad_out, &op.grad_q, &op.grad_k, &op.grad_v})) {
        return false;
    }
    const auto grid = [&](const LongBackLayout& layout, std::int64_t heads, std::int64_t rows) {
        return tile_grid(op.q.dim(0), heads, rows, kLongTile, std::min(row_tiles(rows), kLongWarps) * kWarp,
                         static_cast<std::size_t>(layout.bytes(drops)));
    };
    const auto tiles = [](std::int64_t rows) { return static_cast<int>((rows + kLongTile - 1) / kLongTile); };
    visit_matrix_heads(op, [&](auto tag, auto width) {
        using T = decltype(tag);
        constexpr int kDepth = decltype(width)::value;
        if constexpr (kDepth * int{sizeof(T)} <= kMostBackRowBytes) {
            const AttentionKernel kernel = attention_kernel(op);
            const LongBackInputs<T> inputs{head_operand<const T>(op.q),       head_operand<const T>(op.k),
                                           head_operand<const T>(op.v),       head_operand<const T>(op.grad_out),
                                           data_of<const float>(op.log_sums), delta};
            if (op.grad_k.defined() || op.grad_v.defined()) {
                stream_.launch(AttentionBackward::kName, attend_long_back_to_keys<T, kDepth>,
                               grid(of_keys, op.k.dim(1), keys), kernel, of_keys, tiles(keys), inputs,
                               head_operand<T>(op.grad_k), head_operand<T>(op.grad_v), op.write_k == Write::Accumulate,
                               op.write_v == Write::Accumulate);
            }
            if (op.grad_q.defined()) {
                stream_.launch(AttentionBackward::kName, attend_long_back_to_queries<T, kDepth>,
                               grid(of_queries, op.q.dim(1), queries), kernel, of_queries, tiles(queries), inputs,
                               head_operand<T>(op.grad_q), op.write_q == Write::Accumulate);
            }
        }
    });
    return true;
}

}  // namespace headscope::cuda
