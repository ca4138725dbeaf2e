// The tiles in which matrices multiply, without a device.
#include "backends/vulkan/device/matrix_tiles.h"

#include <catch2/catch.hpp>
#include <vector>

#include "products.h"

using namespace headscope::vulkan;
using namespace headscope::vulkan_tests;

namespace {

MatrixDevice with_subgroups(std::uint32_t size) {
    MatrixDevice device = kMatrices;
    device.subgroup_size = size;
    return device;
}

constexpr std::uint64_t kOne = 1;

}  // namespace

TEST_CASE("a GPU uses large tiles if there are enough for its cores", "[vulkan][matrix_tiles]") {
    CHECK(matrix_tiles(kMatrices).size() == 4);
    CHECK(choose_matrix_tile(kMatrices, 4096, 4096, kOne) == MatrixTile{128, 8});
    CHECK(choose_matrix_tile(kMatrices, 25000, 512, kOne) == MatrixTile{128, 8});
    CHECK(choose_matrix_tile(kMatrices, 512, 512, kOne) == MatrixTile{64, 4});
    CHECK(choose_matrix_tile(kMatrices, 512, 512, 6) == MatrixTile{128, 8});
    CHECK(choose_matrix_tile(kMatrices, 8, 37000, kOne) == MatrixTile{128, 8});
    CHECK(choose_matrix_tile(kMatrices, 5, 5, kOne) == MatrixTile{64, 4});
}

TEST_CASE("a tile has enough subgroups to keep its sums in registers", "[vulkan][matrix_tiles]") {
    CHECK(choose_matrix_tile(with_subgroups(64), 4096, 4096, kOne) == MatrixTile{128, 4});
    CHECK(choose_matrix_tile(with_subgroups(16), 4096, 4096, kOne) == MatrixTile{64, 4});
    CHECK(choose_matrix_tile(with_subgroups(8), 4096, 4096, kOne) == MatrixTile{64, 8});
    MatrixDevice software = with_subgroups(8);
    software.software = true;  // whose registers are memory
    CHECK(matrix_tiles(software) == std::vector{MatrixTile{64, 4}});
    CHECK(choose_matrix_tile(software, 4096, 4096, kOne) == MatrixTile{64, 4});
}

TEST_CASE("a tile needs room in shared memory, invocations and matrices that divide it", "[vulkan][matrix_tiles]") {
    // 64 x (32 + 8) halves of each operand, and a matrix in F32 for each subgroup.
    MatrixDevice small = kMatrices;
    small.shared_bytes = 2 * 64 * 40 * 2 + 4 * 16 * 16 * 4;
    CHECK(matrix_tiles(small) == std::vector{MatrixTile{64, 4}});
    --small.shared_bytes;
    CHECK(matrix_tiles(small).empty());
    MatrixDevice narrow = kMatrices;
    narrow.most_invocations = 128;
    CHECK(matrix_tiles(narrow) == std::vector{MatrixTile{64, 4}, MatrixTile{128, 4}});
    MatrixDevice wide = kMatrices;
    wide.shared_bytes = 65536;
    wide.sizes = {32, 32, 16};  // 64 x 64 by eight subgroups are 32 x 16 each
    CHECK_FALSE(has_room(wide, {64, 8}));
    CHECK(has_room(wide, {64, 4}));
    CHECK(has_room(wide, {128, 8}));
    wide.sizes = {16, 16, 64};  // more terms than are staged
    CHECK(matrix_tiles(wide).empty());
    wide.sizes = {};
    CHECK(matrix_tiles(wide).empty());
    // An invocation stages at least two terms of four rows.
    CHECK_FALSE(has_room(with_subgroups(64), {64, 8}));
    CHECK(has_room(with_subgroups(64), {128, 8}));
}

TEST_CASE("tiles of one side can be requested", "[vulkan][matrix_tiles]") {
    MatrixDevice device = kMatrices;
    device.side = 128;
    CHECK(matrix_tiles(device) == std::vector{MatrixTile{128, 4}, MatrixTile{128, 8}});
    CHECK(choose_matrix_tile(device, 5, 5, kOne) == MatrixTile{128, 8});
    device.shared_bytes = 16384;  // too little: there are others
    CHECK(matrix_tiles(device) == std::vector{MatrixTile{64, 4}});
}
