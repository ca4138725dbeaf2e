// Tile sizes for products by matrices (shaders/include/cooperative_tiles.glsl): pure functions, testable without a
// device.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "backends/vulkan/device/cooperative_matrix.h"
#include "backends/vulkan/device/options.h"

namespace headscope::vulkan {

// Matrices shared by the invocations of a subgroup: a device's own, or emulated ones.
struct MatrixDevice {
    MatrixSizes sizes;
    MatrixMaker maker = MatrixMaker::Other;  // of emulated ones, too
    bool bf16 = false;                       // their operands; else F16
    std::uint32_t subgroup_size = 0;
    std::uint32_t shared_bytes = 0;      // of a workgroup
    std::uint32_t most_invocations = 0;  // of a workgroup
    bool emulated = false;
    std::uint32_t side = 0;              // of all tiles, if there are any; 0 for the choice
    std::vector<MatrixTile> wrong = {};  // failed their trial
};

struct Capabilities;
MatrixMaker matrix_maker(const Capabilities& found);

// The device's matrices of such operands or, if the options ask for it, emulated ones. Null if there are none, or all
// tiles failed.
std::optional<MatrixDevice> matrix_device(const Capabilities& found, const Options& options, bool bf16);

// Whether a head of attention can consist of such matrices: heads are filled up to this many rows, keys and columns.
constexpr std::uint32_t kHeadPadding = 16;  // cooperative_memory.glsl
bool fit_heads(const MatrixSizes& sizes);

// Whether attention in F16 uses these matrices for products in F16, where a head fits (plan_head).
bool attends_by(const std::optional<MatrixDevice>& matrices, const Options& options);

// How a tile's operands pass through shared memory.
struct MatrixStaging {
    std::uint32_t depth = 0;   // terms at once
    std::uint32_t stages = 0;  // with two, one is filled while the other is read
    bool operator==(const MatrixStaging&) const = default;
};

// A row of the table in matrix_tiles.cpp: the tiles of a maker's devices with subgroups of at least this size.
struct TileRow {
    MatrixMaker maker = MatrixMaker::Other;
    std::uint32_t least_subgroup = 1;
    MatrixTile few = {};       // for outputs that are fewer than
    std::uint64_t enough = 0;  // tiles as large as
    MatrixTile many = {};      // this one, for all others
    const char* unused = "";   // why such matrices are not used; empty if they are
};
std::span<const TileRow> tile_rows();
// The first that fits. There always is one.
const TileRow& tile_row(MatrixMaker maker, std::uint32_t subgroup_size);

// Null if the tile does not fit the device.
std::optional<MatrixStaging> staging_of(const MatrixDevice& device, const MatrixTile& tile);

// All tiles that the device has room for and that passed their trial, the smallest first.
std::vector<MatrixTile> matrix_tiles(const MatrixDevice& device);

// The tile of the device's row for `batch` products [m, k] . [k, n] or, if the device has no such tile, the smallest
// whose sums fit its registers. There must be one.
MatrixTile choose_matrix_tile(const MatrixDevice& device, std::uint32_t m, std::uint32_t n, std::uint64_t batch);

}  // namespace headscope::vulkan
