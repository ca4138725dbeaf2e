#include "backends/cuda/fused_attention.h"

#include "backends/cuda/grids.h"

namespace headscope::cuda {

Grid tile_grid(std::int64_t batch, std::int64_t heads, std::int64_t rows, int tile, int threads,
               std::size_t shared_bytes) {
    return {dim3(block_count(batch * heads * ((rows + tile - 1) / tile))), static_cast<unsigned>(threads),
            shared_bytes};
}

Grid decode_grid(std::int64_t batch, std::int64_t heads, std::int64_t queries) {
    // The weights of the current keys, and each thread's sums of four columns.
    constexpr std::size_t kOwnBytes = (DecodeTile::kKeys + DecodeTile::kThreads * 4) * sizeof(float);
    return {dim3(block_count(batch * heads * queries)), DecodeTile::kThreads, kReduceBytes + kOwnBytes};
}

}  // namespace headscope::cuda
