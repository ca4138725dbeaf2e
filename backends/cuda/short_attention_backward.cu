// The backward of short attention in one pass: the weights are computed again, kept in shared memory with the gradient
// of the scores, and all three gradients follow from them. Neither the forward's result nor its log_sums is read. Every
// result has one owner and a fixed order. The gradients of keys that heads share would have several owners, so these
// heads run as those of longer sentences do (long_attention_backward.cu).
#include "backend/ops/attention.h"
#include "backends/cuda/cuda_backend.h"
#include "backends/cuda/dependent_launch.h"
#include "backends/cuda/short_attention_launch.h"
#include "backends/cuda/short_attention_tiles.h"

namespace headscope::cuda {

namespace {

template <class T>
struct ShortInputs {
    HeadOperand<const T> q, k, v, grad_out;
};

template <class T>
struct ShortGradients {
    HeadOperand<T> q, k, v;
    bool accumulate_q = false, accumulate_k = false, accumulate_v = false;
};

// A block's tiles in shared memory.
template <class T>
struct ShortTiles {
    SharedTile<T> queries, grad_out, keys, values;  // values: then the place through which results go
    SharedTile<T> weights, grad_scores;             // [query][key]

    __device__ explicit ShortTiles(const ShortLayout& layout)
        : queries(at(layout.queries(), layout.pitch())),
          grad_out(at(layout.grad_out(), layout.pitch())),
          keys(at(layout.keys(), layout.pitch())),
          values(at(layout.values(), layout.pitch())),
          weights(at(layout.weights(), layout.weights_pitch())),
          grad_scores(at(layout.grad_scores(), layout.weights_pitch())) {}

private:
    __device__ static SharedTile<T> at(int place, int pitch) {
        return {reinterpret_cast<T*>(shared_bytes + place), pitch};
    }
};

template <int D, class T>
__device__ inline void copy_inputs(const AttentionKernel& kernel, const ShortLayout& layout, const TilePlace& place,
                                   int limit, const ShortInputs<T>& inputs, const ShortTiles<T>& tiles) {
    const int queries = layout.query_tiles * kTileRows;
    const int keys = layout.key_tiles * kTileRows;
    copy_rows<D>(inputs.q.of(place.batch, place.head), queries, kernel.queries, tiles.queries);
    copy_rows<D>(inputs.k.of(place.batch, place.group), keys, limit, tiles.keys);
    copy_rows<D>(inputs.v.of(place.batch, place.group), keys, limit, tiles.values);
    copy_rows<D>(inputs.grad_out.of(place.batch, place.head), queries, kernel.queries, tiles.grad_out);
    commit_copies();
}

// `weights` after dropout, and `grads`, which are those of the weights after dropout, as the gradient of the scores.
template <int Tiles>
__device__ inline void score_gradients(const AttentionKernel& kernel, const ShortRows& rows,
                                       const KeptRows<Tiles>& keeps, ShortScores<Tiles>& weights,
                                       ShortScores<Tiles>& grads) {
    const auto seen = [&](int tile, int i) { return rows.allowed[i / 2].has(key_in_tile(tile, i)); };
    const auto dropped = [&](int tile, int i, float value) {
        return keeps.has(tile, i) ? value * kernel.dropout.scale : 0.0F;
    };
    float delta[2] = {};  // the sum of the weights times their gradient
    for_tiles<Tiles>(rows.pairs, [&](int tile) {
        unrolled<4>([&](int i) {
            float& grad = grads.at[tile][i];
            grad = seen(tile, i) ? dropped(tile, i, grad) : 0.0F;
            delta[i / 2] += weights.at[tile][i] * grad;
        });
    });
    for (float& sum : delta) {
        sum = reduce_quad(sum, Sum{});
    }
    for_tiles<Tiles>(rows.pairs, [&](int tile) {
        unrolled<4>([&](int i) {
            float& weight = weights.at[tile][i];
            grads.at[tile][i] = seen(tile, i) ? weight * (grads.at[tile][i] - delta[i / 2]) : 0.0F;
            weight = dropped(tile, i, weight);
        });
    });
}

// Stores the 16 rows of a warp, from `first` on.
template <int Tiles, class T>
__device__ inline void store_scores(const ShortScores<Tiles>& scores, int key_tiles, int first,
                                    const SharedTile<T>& to) {
    for_tiles<Tiles>(key_tiles, [&](int tile) {
        unrolled<2>([&](int half) {
            const float pair[2] = {scores.at[tile][2 * half], scores.at[tile][2 * half + 1]};
            store<2>(pair, to.at(short_query(first, half), key_in_tile(tile, 0)));
        });
    });
}

// The weights of a warp's queries after dropout, and the gradient of their scores, go to shared memory.
template <int D, int Tiles, class T>
__device__ inline void weigh_queries(const AttentionKernel& kernel, const ShortLayout& layout, const SentenceMask& mask,
                                     const std::uint8_t* kept, int first, const ShortTiles<T>& tiles) {
    const ShortRows rows = short_rows(mask, kernel.queries, first);
    ShortScores<Tiles> weights;
    ShortScores<Tiles> grads;
    add_scores<D>(tiles.queries, first, tiles.keys, rows.pairs, weights);
    add_scores<D>(tiles.grad_out, first, tiles.values, rows.pairs, grads);
    float log_sums[2];
    short_softmax(rows, kernel.scale, weights, log_sums);
    score_gradients(kernel, rows, KeptRows<Tiles>(kept, first, kernel.queries), weights, grads);
    store_scores(weights, layout.key_tiles, first, tiles.weights);
    store_scores(grads, layout.key_tiles, first, tiles.grad_scores);
}

template <class T, int D, int Tiles>
__global__ void __launch_bounds__(kShortThreads, kShortBlocks<T, D, Tiles>)
    attend_short_back(AttentionKernel kernel, ShortLayout layout, ShortInputs<T> inputs, ShortGradients<T> gradients) {
    after_previous();
    const ShortTiles<T> tiles(layout);
    const TilePlace place = tile_place(kernel, 1);
    const int tile = static_cast<int>(threadIdx.x) / kWarp;
    const int first = tile * kTileRows;  // of the warp's queries, then of its keys
    const SentenceMask mask = kernel.mask.of(place.batch);
    const int limit = mask.keys_between(0, kernel.queries - 1).end;
    copy_inputs<D>(kernel, layout, place, limit, inputs, tiles);
    const std::uint8_t* kept = draw_kept(kernel, layout, place);
    wait_for_copies<0>();
    __syncthreads();
    clear_hidden<D>(mask, limit, tiles.keys, tiles.values);
    if (tile < layout.query_tiles) {
        weigh_queries<D, Tiles>(kernel, layout, mask, kept, first, tiles);
    }
    __syncthreads();
    const auto write = [&](const HeadOperand<T>& to, int rows, float factor, bool accumulate, const auto& add) {
        if (to.data != nullptr && first < rows) {
            RowSums<D> sums;
            add(sums);
            store_rows(sums, factor, tiles.values, first, rows, to.of(place.batch, place.head), accumulate);
        }
    };
    write(gradients.q, kernel.queries, kernel.scale, gradients.accumulate_q, [&](RowSums<D>& sums) {
        add_tile_product<false>(tiles.grad_scores, first, tiles.keys, layout.key_tiles, sums);
    });
    write(gradients.v, kernel.keys, 1.0F, gradients.accumulate_v, [&](RowSums<D>& sums) {
        add_tile_product<true>(tiles.weights, first, tiles.grad_out, layout.query_tiles, sums);
    });
    write(gradients.k, kernel.keys, kernel.scale, gradients.accumulate_k, [&](RowSums<D>& sums) {
        add_tile_product<true>(tiles.grad_scores, first, tiles.queries, layout.query_tiles, sums);
    });
}

}  // namespace

bool CudaBackend::run_short(const AttentionBackward& op) {
    const ShortLayout layout = short_layout(op, true);
    if (heads_of_group(op) > 1 || !may_round(op) ||
        !takes_short(Kernel::AttentionBackward, layout, op.dropout,
                     {&op.q, &op.k, &op.v, &op.grad_out, &op.grad_q, &op.grad_k, &op.grad_v})) {
        return false;
    }
    visit_short(op, [&](auto tag, auto depth, auto tiles) {
        using T = decltype(tag);
        const ShortInputs<T> inputs{head_operand<const T>(op.q), head_operand<const T>(op.k),
                                    head_operand<const T>(op.v), head_operand<const T>(op.grad_out)};
        const ShortGradients<T> gradients{head_operand<T>(op.grad_q),      head_operand<T>(op.grad_k),
                                          head_operand<T>(op.grad_v),      op.write_q == Write::Accumulate,
                                          op.write_k == Write::Accumulate, op.write_v == Write::Accumulate};
        stream_.launch(AttentionBackward::kName, attend_short_back<T, decltype(depth)::value, decltype(tiles)::value>,
                       short_grid(op, layout), attention_kernel(op), layout, inputs, gradients);
    });
    return true;
}

}  // namespace headscope::cuda
