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
    // 64 x (32 + 8) halves of each operand.
    MatrixDevice small = kMatrices;
    small.shared_bytes = 2 * 64 * 40 * 2;
    CHECK(matrix_tiles(small) == std::vector{MatrixTile{64, 4}, MatrixTile{64, 8}});
    --small.shared_bytes;
    CHECK(matrix_tiles(small).empty());
    MatrixDevice narrow = kMatrices;
    narrow.most_invocations = 128;
    CHECK(matrix_tiles(narrow) == std::vector{MatrixTile{64, 4}, MatrixTile{128, 4}});
    MatrixDevice wide = kMatrices;
    wide.shared_bytes = 65536;
    wide.sizes = {32, 32, 16};  // 64 x 64 by eight subgroups are 32 x 16 each
    CHECK_FALSE(staging_of(wide, {64, 8}));
    CHECK(staging_of(wide, {64, 4}));
    CHECK(staging_of(wide, {128, 8}));
    wide.sizes = {16, 16, 128};  // more terms than are staged
    CHECK(matrix_tiles(wide).empty());
    wide.sizes = {};
    CHECK(matrix_tiles(wide).empty());
    // An invocation stages at least eight terms of a row.
    CHECK(staging_of(with_subgroups(64), {64, 8}) == MatrixStaging{64, 2});
    CHECK(staging_of(with_subgroups(64), {128, 8}) == MatrixStaging{32, 2});
    CHECK_FALSE(staging_of(with_subgroups(256), {64, 4}));
    // Sums of a matrix in F32 for each subgroup take the place of what was staged.
    wide.sizes = {32, 32, 16};
    wide.shared_bytes = 4 * 32 * 32 * 4;
    CHECK(staging_of(wide, {64, 4}) == MatrixStaging{32, 1});
    --wide.shared_bytes;
    CHECK_FALSE(staging_of(wide, {64, 4}));
}

TEST_CASE("matrices are staged deep and twice where shared memory allows", "[vulkan][matrix_tiles]") {
    CHECK(staging_of(kMatrices, {64, 4}) == MatrixStaging{64, 2});
    CHECK(staging_of(kMatrices, {64, 8}) == MatrixStaging{64, 2});
    CHECK(staging_of(kMatrices, {128, 8}) == MatrixStaging{32, 2});
    MatrixDevice device = kMatrices;
    device.shared_bytes = 32768;
    CHECK(staging_of(device, {64, 4}) == MatrixStaging{32, 2});
    CHECK(staging_of(device, {64, 8}) == MatrixStaging{32, 2});
    CHECK(staging_of(device, {128, 8}) == MatrixStaging{32, 1});
    device.shared_bytes = 2 * 128 * 40 * 2 - 1;
    CHECK_FALSE(staging_of(device, {128, 8}));
    device = kMatrices;
    device.software = true;
    CHECK(staging_of(device, {64, 4}) == MatrixStaging{32, 1});
}

TEST_CASE("tiles of one side can be requested", "[vulkan][matrix_tiles]") {
    MatrixDevice device = kMatrices;
    device.side = 128;
    CHECK(matrix_tiles(device) == std::vector{MatrixTile{128, 4}, MatrixTile{128, 8}});
    CHECK(choose_matrix_tile(device, 5, 5, kOne) == MatrixTile{128, 8});
    device.shared_bytes = 16384;  // too little: there are others
    CHECK(matrix_tiles(device) == std::vector{MatrixTile{64, 4}, MatrixTile{64, 8}});
}
