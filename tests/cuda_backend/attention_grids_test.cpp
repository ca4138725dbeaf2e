// Tiles and launches of the fused attention.
#include <catch2/catch.hpp>

#include "backends/cuda/fused_attention.h"
#include "backends/cuda/reduce.h"
#include "support/check.h"

using namespace headscope;
using namespace headscope::cuda;

namespace {

// The kernels' assumptions about a tile: whole warps with eight threads for each row, neighbours for dropout's draws of
// eight, rows of float4 at multiples of 16 bytes.
template <class Tile>
void check_tile(int depth, std::size_t floats, std::size_t bytes) {
    INFO("depth " << depth);
    CHECK(Tile::kThreads % kWarp == 0);
    CHECK(Tile::kQueries % (Tile::kThreads / kTileLanes) == 0);
    CHECK(Tile::kKeys % kTileLanes == 0);
    CHECK(8 % (Tile::kKeys / kTileLanes) == 0);
    CHECK(Tile::kWeightsPitch % 4 == 0);
    CHECK(bytes == floats * sizeof(float));
    CHECK(bytes <= 48 * 1024);
}

template <int D>
void check_depth() {
    using Forward = ForwardTile<D>;
    constexpr std::size_t kPitch = D + 4;
    check_tile<Forward>(
        D, (Forward::kQueries + Forward::kKeys) * kPitch + Forward::kQueries * (Forward::kKeys + std::size_t{8}),
        Forward::kSharedBytes);
    using Backward = BackwardTile<D>;
    const std::size_t four = 2 * (Backward::kQueries + Backward::kKeys) * kPitch;
    check_tile<Backward>(D, four + Backward::kQueries * (Backward::kKeys + std::size_t{8}),
                         Backward::kQuerySharedBytes);
    check_tile<Backward>(D, four + 2 * Backward::kKeys * (Backward::kQueries + std::size_t{4}),
                         Backward::kKeySharedBytes);
    CHECK(Backward::kTransposedPitch % 4 == 0);
    CHECK(Backward::kKeys % (Backward::kThreads / kTileLanes) == 0);
}

}  // namespace

TEST_CASE("a head is padded to the next depth with a kernel", "[cuda][attention]") {
    CHECK(padded_depth(1, 1) == 32);
    CHECK(padded_depth(32, 5) == 32);
    CHECK(padded_depth(5, 33) == 64);
    CHECK(padded_depth(64, 64) == 64);
    CHECK(padded_depth(65, 64) == 128);
    CHECK(padded_depth(128, 129) == 256);
    CHECK(padded_depth(256, 256) == 256);
    CHECK(padded_depth(257, 1) == 0);
    CHECK(padded_depth(1, 257) == 0);
}

TEST_CASE("the tiles of attention fit any device and divide evenly among threads", "[cuda][attention]") {
    check_depth<32>();
    check_depth<64>();
    check_depth<128>();
    check_depth<256>();
}

TEST_CASE("attention launches a block for each tile of each head", "[cuda][attention]") {
    const Grid grid = tile_grid(3, 5, 65, 64, 128, 1000);
    CHECK(grid.blocks.x == 3 * 5 * 2);
    CHECK(grid.blocks.y == 1);
    CHECK(grid.threads == 128);
    CHECK(grid.shared_bytes == 1000);
    CHECK(tile_grid(1, 1, 64, 64, 128, 0).blocks.x == 1);
    CHECK(tile_grid(70000, 16, 1, 64, 128, 0).blocks.x == 70000 * 16);  // more than the limit of a second dimension
    CHECK_THROWS_AS(tile_grid(1, 0, 64, 64, 128, 0), CheckFailure);
    CHECK_THROWS_AS(tile_grid(1 << 20, 1 << 10, 1 << 10, 64, 128, 0), CheckFailure);

    const Grid decoding = decode_grid(4, 8, 3);
    CHECK(decoding.blocks.x == 4 * 8 * 3);
    CHECK(decoding.threads == DecodeTile::kThreads);
    CHECK(decoding.shared_bytes == kReduceBytes + (128 + 4 * 128) * sizeof(float));
}
