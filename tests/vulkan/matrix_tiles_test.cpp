// The tiles in which matrices multiply, without a device.
#include "backends/vulkan/device/matrix_tiles.h"

#include <catch2/catch.hpp>
#include <vector>

#include "backends/vulkan/device/device.h"
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

TEST_CASE("tiles of matrices follow the table's row of the device", "[vulkan][matrix_tiles]") {
    const auto tiles_of = [](MatrixMaker maker, std::uint32_t subgroup_size) {
        MatrixDevice device = with_subgroups(subgroup_size);
        device.maker = maker;
        return std::vector{choose_matrix_tile(device, 512, 512, 1), choose_matrix_tile(device, 25000, 512, 1)};
    };
    using Tiles = std::vector<MatrixTile>;
    CHECK(tiles_of(MatrixMaker::Nvidia, 32) == Tiles{{64, 4}, {128, 8}});
    CHECK(tiles_of(MatrixMaker::Amd, 64) == Tiles{{64, 4}, {128, 4}});
    CHECK(tiles_of(MatrixMaker::Amd, 32) == Tiles{{64, 4}, {128, 8}});
    CHECK(tiles_of(MatrixMaker::Software, 8) == Tiles{{64, 4}, {64, 4}});
    CHECK(tiles_of(MatrixMaker::Other, 128) == Tiles{{64, 4}, {128, 4}});
    CHECK(tiles_of(MatrixMaker::Other, 16) == Tiles{{64, 4}, {64, 4}});
    CHECK(tiles_of(MatrixMaker::Other, 8) == Tiles{{64, 8}, {64, 8}});
    // Only Intel's are not used, whatever their subgroups, and of the others every row is some device's.
    for (const TileRow& row : tile_rows()) {
        CAPTURE(row.maker, row.least_subgroup);
        CHECK(&tile_row(row.maker, row.least_subgroup) == &row);
        CHECK((*row.unused != '\0') == (row.maker == MatrixMaker::Intel));
    }
    // The last tile of the large ones that are enough decides.
    MatrixDevice device = kMatrices;
    device.maker = MatrixMaker::Nvidia;
    const TileRow& row = tile_row(MatrixMaker::Nvidia, 32);
    CHECK(choose_matrix_tile(device, row.many.side, row.many.side, row.enough) == row.many);
    CHECK(choose_matrix_tile(device, row.many.side, row.many.side, row.enough - 1) == row.few);
}

TEST_CASE("the maker of matrices is known by the vendor, and Intel by its subgroups", "[vulkan][matrix_tiles]") {
    Capabilities found;
    CHECK(matrix_maker(found) == MatrixMaker::Other);
    found.properties.vendorID = 0x10DE;
    CHECK(matrix_maker(found) == MatrixMaker::Nvidia);
    found.properties.vendorID = 0x1002;
    CHECK(matrix_maker(found) == MatrixMaker::Amd);
    found.subgroup_sizes = {.own = 32, .least = 16, .most = 32};
    CHECK(matrix_maker(found) == MatrixMaker::Intel);
    found.software = true;
    CHECK(matrix_maker(found) == MatrixMaker::Software);
}

TEST_CASE("a tile that its row names and the device lacks is replaced", "[vulkan][matrix_tiles]") {
    MatrixDevice device = kMatrices;
    device.wrong = {{64, 4}};
    CHECK(choose_matrix_tile(device, 5, 5, kOne) == MatrixTile{64, 8});
    CHECK(choose_matrix_tile(device, 4096, 4096, kOne) == MatrixTile{128, 8});
    device.wrong = {{128, 8}};
    CHECK(choose_matrix_tile(device, 4096, 4096, kOne) == MatrixTile{64, 4});
}

TEST_CASE("a tile has enough subgroups to keep its sums in registers", "[vulkan][matrix_tiles]") {
    CHECK(choose_matrix_tile(with_subgroups(64), 4096, 4096, kOne) == MatrixTile{128, 4});
    CHECK(choose_matrix_tile(with_subgroups(16), 4096, 4096, kOne) == MatrixTile{64, 4});
    CHECK(choose_matrix_tile(with_subgroups(8), 4096, 4096, kOne) == MatrixTile{64, 8});
    MatrixDevice software = with_subgroups(8);
    software.maker = MatrixMaker::Software;  // whose registers are memory
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
    device.maker = MatrixMaker::Software;
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
