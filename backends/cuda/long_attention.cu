// Attention of longer sentences on tensor cores (long_attention.h), with a running maximum of each row's scores.
#include "backends/cuda/long_attention.h"

#include <algorithm>

#include "backend/ops/attention.h"
#include "backends/cuda/cuda_backend.h"
#include "backends/cuda/dependent_launch.h"
#include "backends/cuda/long_attention_tiles.h"
#include "backends/cuda/short_attention_launch.h"

namespace headscope::cuda {

namespace {

constexpr int kKeyTilesAtOnce = kLongTile / 8;

// Of a lane's two rows: the largest score so far, in powers of 2, and this lane's share of the sum relative to it.
struct RunningRows {
    float largest[2] = {-INFINITY, -INFINITY};
    float total[2] = {};
};

// Scores become weights relative to the new maximum; `left` is the factor for sums relative to the old one.
template <int Tiles>
__device__ inline void running_softmax(const ShortRows& rows, float scale, ShortScores<Tiles>& scores,
                                       RunningRows& running, float (&left)[2]) {
    float most[2] = {running.largest[0], running.largest[1]};
    for_tiles<Tiles>(rows.pairs, [&](int tile) {
        unrolled<4>([&](int i) {
            float& score = scores.at[tile][i];
            score = rows.allowed[i / 2].has(key_in_tile(tile, i)) ? score * (scale * kLog2E) : -INFINITY;
            most[i / 2] = fmaxf(most[i / 2], score);  // a NaN shows in the sum
        });
    });
    float base[2];
    for (int half = 0; half < 2; ++half) {
        most[half] = reduce_quad(most[half], [](float a, float b) { return fmaxf(a, b); });
        base[half] = most[half] == -INFINITY ? 0.0F : most[half];
        left[half] = exp2f(running.largest[half] - base[half]);
        running.largest[half] = most[half];
        running.total[half] *= left[half];
    }
    for_tiles<Tiles>(rows.pairs, [&](int tile) {
        unrolled<4>([&](int i) {
            float& score = scores.at[tile][i];
            score = exp2f(score - base[i / 2]);
            running.total[i / 2] += score;
        });
    });
}

template <int D>
__device__ inline void scale_rows(RowSums<D>& sums, const float (&factor)[2]) {
    unrolled<D / 8>([&](int i) { unrolled<4>([&](int j) { sums.at[i][j] *= factor[j / 2]; }); });
}

template <class T, int D>
__global__ void __launch_bounds__(kLongWarps* kWarp, 2)
    attend_long(AttentionKernel kernel, LongLayout layout, int tiles, HeadOperand<const T> q, HeadOperand<const T> k,
                HeadOperand<const T> v, HeadOperand<T> out, float* log_sums) {
    after_previous();
    const auto tile_at = [&](int place) {
        return SharedTile<T>{reinterpret_cast<T*>(shared_bytes + place), layout.pitch()};
    };
    TilePlace place = tile_place(kernel, tiles);
    place.tile = tiles - 1 - place.tile;  // under a causal mask the last tiles have most work, so they begin
    const int first_query = place.tile * kLongTile;
    const int warp = static_cast<int>(threadIdx.x) / kWarp;
    const int first = first_query + warp * kTileRows;  // of the warp's queries
    const SentenceMask mask = kernel.mask.of(place.batch);
    const Keys seen = mask.keys_between(first_query, lesser(first_query + kLongTile, kernel.queries) - 1);
    const Keys own =
        first < kernel.queries ? mask.keys_between(first, lesser(first + kTileRows, kernel.queries) - 1) : Keys{};
    const ShortRows all = short_rows(mask, kernel.queries, first);
    const HeadRows<const T> keys = k.of(place.batch, place.group);
    const HeadRows<const T> values = v.of(place.batch, place.group);
    const auto copy_keys = [&](int key, int stage) {
        copy_rows<D>(rows_after(keys, key), kLongTile, seen.end - key, tile_at(layout.keys(stage)));
        copy_rows<D>(rows_after(values, key), kLongTile, seen.end - key, tile_at(layout.values(stage)));
        commit_copies();
    };
    const SharedTile<T> queries = tile_at(layout.queries());
    copy_rows<D>(rows_after(q.of(place.batch, place.head), first_query), kLongTile, kernel.queries - first_query,
                 queries);
    RunningRows running;
    RowSums<D> sums;
    int stage = 0;
    const int begin = seen.begin / kLongTile * kLongTile;
    copy_keys(begin, stage);
    for (int key = begin; key < seen.end; key += kLongTile, stage = 1 - stage) {
        wait_for_copies<0>();
        __syncthreads();  // this stage is there, and no warp uses the other any more
        if (key + kLongTile < seen.end) {
            copy_keys(key + kLongTile, 1 - stage);
        }
        clear_hidden_rows<D>(mask, key, kLongTile, seen.end, tile_at(layout.values(stage)));
        const ShortRows rows = rows_from<kLongTile>(all, own, key);
        ShortScores<kKeyTilesAtOnce> scores;
        add_scores<D>(queries, warp * kTileRows, tile_at(layout.keys(stage)), rows.pairs, scores);
        float left[2];
        running_softmax(rows, kernel.scale, scores, running, left);
        scale_rows(sums, left);
        const std::uint8_t* kept = draw_tile<kLongTile>(kernel, place, first, key, shared_bytes + layout.kept(warp));
        const auto weights = dropped_weights<T>(kernel.dropout, KeptRows<kKeyTilesAtOnce>(kept, 0, kTileRows), scores);
        add_weighed(weights, rows.pairs, tile_at(layout.values(stage)), sums);
    }
    wait_for_copies<0>();
    __syncthreads();  // without any key the queries may still arrive, and results go through their tile
    float inverse[2];
    for (int half = 0; half < 2; ++half) {
        const bool none = all.allowed[half].count() == 0;
        const float total = reduce_quad(running.total[half], Sum{});
        const int query = short_query(first, half);
        inverse[half] = none ? 0.0F : 1.0F / total;
        if (log_sums != nullptr && query < kernel.queries && threadIdx.x % 4 == 0) {
            log_sums[place.head_index * kernel.queries + query] =
                none ? -INFINITY : (running.largest[half] + log2f(total)) / kLog2E;
        }
    }
    scale_rows(sums, inverse);
    store_rows<D>(sums, 1.0F, queries, warp * kTileRows, kernel.queries - first_query,
                  rows_after(out.of(place.batch, place.head), first_query), false);
}

}  // namespace

bool CudaBackend::run_long(const Attention& op) {
    const std::int64_t queries = op.q.dim(2);
    const LongLayout layout{.depth = padded_depth(op.q.dim(3), op.v.dim(3)),
                            .element = static_cast<int>(size_of(op.q.dtype))};
    if (queries <= DecodeTile::kMostQueries || op.k.dim(2) == 0 || layout.depth > kDeepestShort || !may_round(op) ||
        !suits_matrix_unit(Kernel::LongAttention, layout.bytes(op.dropout.rate > 0.0F),
                           {&op.q, &op.k, &op.v, &op.out})) {
        return false;
    }
    const auto tiles = static_cast<int>((queries + kLongTile - 1) / kLongTile);
    const int warps = std::min(row_tiles(queries), kLongWarps);
    visit_matrix_heads(op, [&](auto tag, auto depth) {
        using T = decltype(tag);
        const Grid grid = tile_grid(op.q.dim(0), op.q.dim(1), queries, kLongTile, warps * kWarp,
                                    static_cast<std::size_t>(layout.bytes(op.dropout.rate > 0.0F)));
        stream_.launch(Attention::kName, attend_long<T, decltype(depth)::value>, grid, attention_kernel(op), layout,
                       tiles, head_operand<const T>(op.q), head_operand<const T>(op.k), head_operand<const T>(op.v),
                       head_operand<T>(op.out), data_of<float>(op.log_sums));
    });
    return true;
}

}  // namespace headscope::cuda
