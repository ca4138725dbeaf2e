// Shapes of launches.
#include "backends/cuda/grids.h"

#include <catch2/catch.hpp>

#include "support/check.h"

using namespace headscope;
using namespace headscope::cuda;

TEST_CASE("every item has a thread, and no block is empty", "[grids]") {
    for (const std::int64_t items : {1L, 255L, 256L, 257L, 100000L, 65536L * 256 + 1}) {
        const Grid grid = item_grid(items);
        const auto threads = static_cast<std::int64_t>(grid.blocks.x) * grid.threads;
        CHECK(threads >= items);
        CHECK(threads - items < grid.threads);
        CHECK(grid.blocks.y == 1);
        CHECK(grid.shared_bytes == 0);
    }
    CHECK_THROWS_AS(item_grid(0), CheckFailure);
    CHECK_THROWS_AS(item_grid(std::int64_t{1} << 40), CheckFailure);
}

TEST_CASE("a row has whole warps, enough for its columns and no more than allowed", "[grids]") {
    for (const std::int64_t columns : {1L, 31L, 32L, 33L, 512L, 37000L}) {
        for (const int width : {1, 4, 8}) {
            const Grid grid = row_grid(77, columns, width, 100, 256);
            CHECK(grid.blocks.x == 77);
            CHECK(grid.threads % kWarp == 0);
            CHECK(grid.threads <= 256);
            CHECK((grid.threads == 256 || static_cast<std::int64_t>(grid.threads) * width >= columns));
            CHECK((grid.threads == kWarp || static_cast<std::int64_t>(grid.threads - kWarp) * width < columns));
            CHECK(grid.shared_bytes == kReduceBytes + 100);
        }
    }
    // More rows than a grid's second dimension could have.
    CHECK(row_grid(1 << 20, 64, 1).blocks.x == 1U << 20U);
}

TEST_CASE("column sums cover every column, with parts for every multiprocessor, each of enough rows", "[grids]") {
    for (const std::int64_t rows : {0L, 1L, 31L, 33L, 25000L, 1L << 30}) {
        for (const std::int64_t columns : {1L, 64L, 512L, 37000L}) {
            const Grid grid = row_parts_grid(rows, columns, 4, 132);
            CHECK(static_cast<std::int64_t>(grid.blocks.x) * grid.threads * 4 >= columns);
            CHECK(grid.blocks.y >= 1);
            CHECK(grid.blocks.y <= 65535);
            CHECK((grid.blocks.y == 1 || rows / grid.blocks.y >= 32));
        }
    }
    CHECK(row_parts_grid(25000, 512, 8, 132).blocks.y > 132);
}
