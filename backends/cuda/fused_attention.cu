// Fused attention: one pass over the keys with a running maximum, so that weights never leave the block (Milakov &
// Gimelshein, "Online normalizer calculation for softmax", 2018; Dao et al., "FlashAttention", 2022).
// - F32 products on tiles in shared memory; global memory holds F32, F16 or BF16
// - few queries (decoding) use a kernel whose threads share the keys of one query; each key may be of another row
#include "backend/ops/attention.h"
#include "backends/cuda/cuda_backend.h"
#include "backends/cuda/dependent_launch.h"
#include "backends/cuda/fused_attention_tiles.h"

namespace headscope::cuda {

namespace {

// The base of exponents. If only -inf was seen so far, any other number, so that exp gives 0.
__device__ inline float exponent_base(float largest) {
    return largest == -INFINITY ? 0.0F : largest;
}

// Turns the scores of a row into weights relative to its new maximum; returns the factor for sums relative to the old
// one.
template <int N>
__device__ inline float rescale(const AttentionKernel& kernel, int first_key, const Keys& allowed, float (&scores)[N],
                                float& largest) {
    float most = -INFINITY;
    for (int j = 0; j < N; ++j) {
        scores[j] *= kernel.scale;
        most = allowed.has(first_key + j) ? Maximum{}(scores[j], most) : most;
    }
    most = Maximum{}(reduce_lanes(most, Maximum{}), largest);
    const float base = exponent_base(most);
    for (int j = 0; j < N; ++j) {
        scores[j] = allowed.has(first_key + j) ? expf(scores[j] - base) : 0.0F;
    }
    const float left = expf(largest - base);
    largest = most;
    return left;
}

__device__ inline float log_sum(const Keys& allowed, float largest, float total) {
    return allowed.count() == 0 ? -INFINITY : largest + logf(total);
}

template <class T, int D>
__global__ void __launch_bounds__(ForwardTile<D>::kThreads)
    attend_tile(AttentionKernel kernel, int tiles, HeadOperand<const T> q, HeadOperand<const T> k,
                HeadOperand<const T> v, HeadOperand<T> out, float* log_sums) {
    after_previous();
    using Tile = ForwardTile<D>;
    constexpr int kRowStep = Tile::kThreads / kTileLanes;
    constexpr int kRows = Tile::kQueries / kRowStep;  // of a thread, kRowStep apart
    constexpr int kKeys = Tile::kKeys / kTileLanes;   // of a thread, in each of its rows
    const int lane = static_cast<int>(threadIdx.x) % kTileLanes;
    const int line = static_cast<int>(threadIdx.x) / kTileLanes;
    auto* q_tile = reinterpret_cast<float*>(shared_bytes);
    float* k_tile = q_tile + Tile::kQueries * kPitch<D>;  // then the values
    float* weights = k_tile + Tile::kKeys * kPitch<D>;    // [query][slot of a key]

    TilePlace place = tile_place(kernel, tiles);
    place.tile = tiles - 1 - place.tile;  // under a causal mask the last tiles have most work, so they begin
    const int first_query = place.tile * Tile::kQueries;
    const SentenceMask mask = kernel.mask.of(place.batch);
    const Keys seen = mask.keys_between(first_query, lesser(first_query + Tile::kQueries, kernel.queries) - 1);
    Keys allowed[kRows];
    float largest[kRows];
    float total[kRows] = {};  // of this thread's keys
    for (int i = 0; i < kRows; ++i) {
        allowed[i] = mask.keys_of(lesser(first_query + line + i * kRowStep, kernel.queries - 1));
        largest[i] = -INFINITY;
    }
    OwnRows<kRows, D> sum;
    const HeadRows<const T> keys = k.of(place.batch, place.group);
    const HeadRows<const T> values = v.of(place.batch, place.group);
    load_tile<Tile::kQueries, D, Tile::kThreads, false>(q.of(place.batch, place.head), first_query, kernel.queries,
                                                        q_tile);
    for (int first = seen.begin / Tile::kKeys * Tile::kKeys; first < seen.end; first += Tile::kKeys) {
        load_tile<Tile::kKeys, D, Tile::kThreads, true>(keys, first, seen.end, k_tile);
        __syncthreads();
        float scores[kRows][kKeys] = {};
        add_dots<D>(q_tile + line * kPitch<D>, kRowStep * kPitch<D>, k_tile + lane * kPitch<D>, kTileLanes * kPitch<D>,
                    scores);
        const int first_key = first + lane * kKeys;
        unrolled<kRows>([&](int i) {
            const float left = rescale(kernel, first_key, allowed[i], scores[i], largest[i]);
            total[i] *= left;
            unrolled<kKeys>([&](int j) { total[i] += scores[i][j]; });
            unrolled<kOwnGroups<D>>([&](int group) { unrolled<4>([&](int x) { sum.at[i][group][x] *= left; }); });
            const int row = line + i * kRowStep;
            drop<kKeys>(kernel.dropout, place.batch, place.head, first_query + row, first_key, scores[i]);
            unrolled<kKeys>([&](int j) { weights[row * Tile::kWeightsPitch + lane + j * kTileLanes] = scores[i][j]; });
        });
        __syncthreads();
        load_tile<Tile::kKeys, D, Tile::kThreads, true>(values, first, seen.end, k_tile, ShownKeys{mask});
        __syncthreads();
        add_product<Tile::kKeys>(weights + line * Tile::kWeightsPitch, kRowStep * Tile::kWeightsPitch, k_tile, lane,
                                 sum);
        __syncthreads();
    }
    const HeadRows<T> to = out.of(place.batch, place.head);
    unrolled<kRows>([&](int i) {
        const int query = first_query + line + i * kRowStep;
        const float all = reduce_lanes(total[i], Sum{});
        if (query < kernel.queries) {
            store_row<D>(sum.at[i], allowed[i].count() == 0 ? 0.0F : 1.0F / all, to, query, lane, false);
            if (log_sums != nullptr && lane == 0) {
                log_sums[place.head_index * kernel.queries + query] = log_sum(allowed[i], largest[i], all);
            }
        }
    });
}

// Four neighbours of a row, with zeros past its end.
template <class T>
__device__ inline void load_group(const HeadRows<T>& from, int row, int column, float (&to)[4]) {
    if (from.wide && column < from.columns) {
        load<4>(from.row(row) + column, to);
        return;
    }
    for (int x = 0; x < 4; ++x) {
        to[x] = column + x < from.columns ? to_float(from.row(row)[column + x]) : 0.0F;
    }
}

// Attention::key_rows, [keys, batch].
struct KeyRows {
    const std::int32_t* rows = nullptr;
    int batch = 0;
};

// One head of keys or values: all of one row, or each of the row that `named` says.
template <class T, bool Named>
struct DecodedHead {
    HeadOperand<T> x;
    KeyRows named;
    std::int64_t batch, group;

    __device__ HeadRows<T> rows_of(int key) const {
        return x.of(Named ? named.rows[static_cast<std::int64_t>(key) * named.batch + batch] : batch, group);
    }
};

// The scores of keys [first, first + count): kTileLanes threads for each key.
template <int D, class Head>
__device__ inline void decode_scores(const float (&query)[kOwnGroups<D>][4], const Head& keys, int first, int count,
                                     float* scores) {
    constexpr int kAtOnce = DecodeTile::kThreads / kTileLanes;
    const int lane = static_cast<int>(threadIdx.x) % kTileLanes;
    const int line = static_cast<int>(threadIdx.x) / kTileLanes;
    for (int base = 0; base < count; base += kAtOnce) {
        float sum = 0.0F;
        for (int group = 0; group < kOwnGroups<D> && base + line < count; ++group) {
            float key[4];
            load_group(keys.rows_of(first + base + line), first + base + line, (lane + group * kTileLanes) * 4, key);
            for (int x = 0; x < 4; ++x) {
                sum += query[group][x] * key[x];
            }
        }
        sum = reduce_lanes(sum, Sum{});
        if (lane == 0) {
            scores[base + line] = sum;
        }
    }
}

// One query for each block.
template <class T, int D, bool Named>
__global__ void __launch_bounds__(DecodeTile::kThreads)
    attend_query(AttentionKernel kernel, HeadOperand<const T> q, HeadOperand<const T> k, HeadOperand<const T> v,
                 KeyRows named, HeadOperand<T> out, float* log_sums) {
    after_previous();
    constexpr int kGroups = D / 4;                          // threads for each row of values
    constexpr int kParts = DecodeTile::kThreads / kGroups;  // rows at once
    const int thread = static_cast<int>(threadIdx.x);
    auto* weights = shared_rest<float>();        // [kKeys]
    float* parts = weights + DecodeTile::kKeys;  // [kParts][D]
    const TilePlace place = tile_place(kernel, kernel.queries);
    const int query = place.tile;
    const Keys allowed = kernel.mask.of(place.batch).keys_of(query);
    float own_query[kOwnGroups<D>][4];
    for (int group = 0; group < kOwnGroups<D>; ++group) {
        load_group(q.of(place.batch, place.head), query, (thread % kTileLanes + group * kTileLanes) * 4,
                   own_query[group]);
    }
    const DecodedHead<const T, Named> keys{k, named, place.batch, place.group};
    const DecodedHead<const T, Named> values{v, named, place.batch, place.group};
    float largest = -INFINITY;
    float total = 0.0F;
    float sum[4] = {};
    for (int first = allowed.begin; first < allowed.end; first += DecodeTile::kKeys) {
        const int count = lesser(DecodeTile::kKeys, allowed.end - first);
        decode_scores<D>(own_query, keys, first, count, weights);
        __syncthreads();
        const float score = thread < count ? kernel.scale * weights[thread] : -INFINITY;
        const float most = Maximum{}(reduce_block(score, Maximum{}), largest);
        const float base = exponent_base(most);
        const float left = expf(largest - base);
        float weight[1] = {thread < count ? expf(score - base) : 0.0F};
        total = total * left + reduce_block(weight[0], Sum{});
        largest = most;
        drop<1>(kernel.dropout, place.batch, place.head, query, first + thread, weight);
        weights[thread] = weight[0];
        __syncthreads();
        for (float& value : sum) {
            value *= left;
        }
        for (int key = thread / kGroups; key < count; key += kParts) {
            float value[4];
            load_group(values.rows_of(first + key), first + key, thread % kGroups * 4, value);
            for (int x = 0; x < 4; ++x) {
                sum[x] += weights[key] * value[x];
            }
        }
        __syncthreads();
    }
    store<4>(sum, parts + thread * 4);
    __syncthreads();
    const HeadRows<T> to = out.of(place.batch, place.head);
    for (int column = thread; column < to.columns; column += DecodeTile::kThreads) {
        float value[1] = {};
        for (int part = 0; part < kParts; ++part) {
            value[0] += parts[part * D + column];
        }
        value[0] = allowed.count() == 0 ? 0.0F : value[0] / total;
        store<1>(value, to.row(query) + column);
    }
    if (log_sums != nullptr && thread == 0) {
        log_sums[place.head_index * kernel.queries + query] = log_sum(allowed, largest, total);
    }
}

}  // namespace

void CudaBackend::run(const Attention& op) {
    const std::int64_t batch = op.q.dim(0);
    const std::int64_t heads = op.q.dim(1);
    const std::int64_t queries = op.q.dim(2);
    const bool named = op.key_rows.defined();
    const int padded = padded_depth(op.q.dim(3), op.v.dim(3));
    if (padded == 0 || (named && (queries > DecodeTile::kMostQueries || padded > DecodeTile::kDeepestNamed))) {
        Backend::run(op);
        return;
    }
    if (batch * heads * queries == 0 || run_short(op) || run_long(op)) {
        return;
    }
    visit_heads(op, [&](auto tag, auto depth) {
        using T = decltype(tag);
        constexpr int kDepth = decltype(depth)::value;
        const AttentionKernel kernel = attention_kernel(op);
        const auto q = head_operand<const T>(op.q);
        const auto k = head_operand<const T>(op.k);
        const auto v = head_operand<const T>(op.v);
        const auto out = head_operand<T>(op.out);
        auto* log_sums = data_of<float>(op.log_sums);
        if (queries <= DecodeTile::kMostQueries) {
            const KeyRows rows{data_of<const std::int32_t>(op.key_rows), static_cast<int>(batch)};
            constexpr bool kNames = kDepth <= DecodeTile::kDeepestNamed;
            stream_.launch(Attention::kName, named ? attend_query<T, kDepth, kNames> : attend_query<T, kDepth, false>,
                           decode_grid(batch, heads, queries), kernel, q, k, v, rows, out, log_sums);
            return;
        }
        using Tile = ForwardTile<kDepth>;
        const Grid grid = tile_grid(batch, heads, queries, Tile::kQueries, Tile::kThreads, Tile::kSharedBytes);
        const int tiles = static_cast<int>((queries + Tile::kQueries - 1) / Tile::kQueries);
        stream_.launch(Attention::kName, attend_tile<T, kDepth>, grid, kernel, tiles, q, k, v, out, log_sums);
    });
}

}  // namespace headscope::cuda
