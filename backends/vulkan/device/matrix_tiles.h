// Tile sizes for products by matrices (shaders/include/cooperative_tiles.glsl): pure functions, testable without a
// device.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "backends/vulkan/device/cooperative_matrix.h"
#include "backends/vulkan/device/options.h"

namespace headscope::vulkan {

// Matrices shared by the invocations of a subgroup: a device's own, or emulated ones.
struct MatrixDevice {
    MatrixSizes sizes;
    bool bf16 = false;  // their operands; else F16
    std::uint32_t subgroup_size = 0;
    std::uint32_t shared_bytes = 0;      // of a workgroup
    std::uint32_t most_invocations = 0;  // of a workgroup
    bool software = false;
    bool emulated = false;
    std::uint32_t side = 0;              // of all tiles, if there are any; 0 for the choice
    std::vector<MatrixTile> wrong = {};  // failed their trial
};

struct Capabilities;
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

// Null if the tile does not fit the device.
std::optional<MatrixStaging> staging_of(const MatrixDevice& device, const MatrixTile& tile);

// All tiles that the device has room for and that passed their trial, the smallest first.
std::vector<MatrixTile> matrix_tiles(const MatrixDevice& device);

// The tile that is likely to be fast for `batch` products [m, k] . [k, n]. There must be one.
MatrixTile choose_matrix_tile(const MatrixDevice& device, std::uint32_t m, std::uint32_t n, std::uint64_t batch);

}  // namespace headscope::vulkan
