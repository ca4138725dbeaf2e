// Attention of up to 128 positions on tensor cores: a block for each head, a warp for each 16 queries
// (short_attention.h).
#include <algorithm>

#include "backend/ops/attention.h"
#include "backends/cuda/cuda_backend.h"
#include "backends/cuda/dependent_launch.h"
#include "backends/cuda/errors.h"
#include "backends/cuda/short_attention_launch.h"
#include "backends/cuda/short_attention_tiles.h"

namespace headscope::cuda {

namespace {

template <class T, int D, int Tiles>
__global__ void __launch_bounds__(kShortThreads, kShortBlocks<T, D, Tiles>)
    attend_short(AttentionKernel kernel, ShortLayout layout, HeadOperand<const T> q, HeadOperand<const T> k,
                 HeadOperand<const T> v, HeadOperand<T> out, float* log_sums) {
    after_previous();
    const auto tile_at = [&](int place) {
        return SharedTile<T>{reinterpret_cast<T*>(shared_bytes + place), layout.pitch()};
    };
    const SharedTile<T> queries = tile_at(layout.queries());
    const SharedTile<T> keys = tile_at(layout.keys());
    const SharedTile<T> values = tile_at(layout.values());
    const TilePlace place = tile_place(kernel, 1);
    const int first = static_cast<int>(threadIdx.x) / kWarp * kTileRows;  // of the warp's queries
    const SentenceMask mask = kernel.mask.of(place.batch);
    const int limit = mask.keys_between(0, kernel.queries - 1).end;

    copy_rows<D>(q.of(place.batch, place.head), layout.query_tiles * kTileRows, kernel.queries, queries);
    copy_rows<D>(k.of(place.batch, place.group), layout.key_tiles * kTileRows, limit, keys);
    copy_rows<D>(v.of(place.batch, place.group), layout.key_tiles * kTileRows, limit, values);
    commit_copies();
    const std::uint8_t* kept = draw_kept(kernel, layout, place);
    const ShortRows rows = short_rows(mask, kernel.queries, first);
    wait_for_copies<0>();
    __syncthreads();
    clear_hidden<D>(mask, limit, keys, values);
    ShortScores<Tiles> scores;
    add_scores<D>(queries, first, keys, rows.pairs, scores);
    float sums_of_rows[2];
    short_softmax(rows, kernel.scale, scores, sums_of_rows);
    const auto weights = dropped_weights<T>(kernel.dropout, KeptRows<Tiles>(kept, first, kernel.queries), scores);
    RowSums<D> sums;
    add_weighed(weights, rows.pairs, values, sums);
    store_rows<D>(sums, 1.0F, queries, first, kernel.queries, out.of(place.batch, place.head), false);
    for (int half = 0; half < 2; ++half) {
        const int query = short_query(first, half);
        if (log_sums != nullptr && query < kernel.queries && threadIdx.x % 4 == 0) {
            log_sums[place.head_index * kernel.queries + query] = sums_of_rows[half];
        }
    }
}

}  // namespace

int compiled_architecture() {
    cudaFuncAttributes attributes{};
    require(cudaFuncGetAttributes(&attributes, attend_short<BFloat16, 64, kKeyTiles[0]>), "ask what kernels there are");
    return attributes.ptxVersion;
}

bool CudaBackend::run_short(const Attention& op) {
    const ShortLayout layout = short_layout(op, false);
    if (op.q.dim(2) <= DecodeTile::kMostQueries || !may_round(op) ||
        !takes_short(Kernel::Attention, layout, op.dropout, {&op.q, &op.k, &op.v, &op.out})) {
        return false;
    }
    visit_short(op, [&](auto tag, auto depth, auto tiles) {
        using T = decltype(tag);
        stream_.launch(Attention::kName, attend_short<T, decltype(depth)::value, decltype(tiles)::value>,
                       short_grid(op, layout), attention_kernel(op), layout, head_operand<const T>(op.q),
                       head_operand<const T>(op.k), head_operand<const T>(op.v), head_operand<T>(op.out),
                       data_of<float>(op.log_sums));
    });
    return true;
}

bool CudaBackend::takes_short(Kernel kernel, const ShortLayout& layout, const DropoutRule& dropout,
                              std::initializer_list<const Tensor*> operands) const {
    return layout.is_short() && suits_matrix_unit(kernel, layout.bytes(dropout.rate > 0.0F), operands);
}

bool CudaBackend::suits_matrix_unit(Kernel kernel, int block_bytes,
                                    std::initializer_list<const Tensor*> operands) const {
    const DType dtype = (*operands.begin())->dtype;
    const bool wide = std::all_of(operands.begin(), operands.end(), [dtype](const Tensor* operand) {
        return !operand->defined() || (dtype == DType::F32 ? head_operand<const float>(*operand).wide
                                                           : head_operand<const Half>(*operand).wide);
    });
    const bool fits = dtype != DType::F32 || kernels_.allow(Kernel::Tf32Attention, compiled_);
    return kernels_.allow(kernel, compiled_) && fits && wide &&
           static_cast<std::size_t>(block_bytes) <= properties_.sharedMemPerBlockOptin;
}

}  // namespace headscope::cuda
