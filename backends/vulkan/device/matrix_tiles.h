// In tiles of which size matrices multiply (shaders/include/cooperative_tiles.glsl): pure, so that it is tested without
// a device.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "backends/vulkan/device/cooperative_matrix.h"
#include "backends/vulkan/device/options.h"

namespace headscope::vulkan {

// Matrices that a subgroup's invocations share: a device's own, or those of the emulation.
struct MatrixDevice {
    MatrixSizes sizes;
    std::uint32_t subgroup_size = 0;
    std::uint32_t shared_bytes = 0;      // of a workgroup
    std::uint32_t most_invocations = 0;  // of a workgroup
    bool software = false;
    bool emulated = false;
    std::uint32_t side = 0;              // of all tiles, where there are such; 0 for the choice
    std::vector<MatrixTile> wrong = {};  // that failed their trial
};

struct Capabilities;
// The device's matrices or, if the options ask for it, emulated ones. Null if there are none, or all tiles failed.
std::optional<MatrixDevice> matrix_device(const Capabilities& found, const Options& options);

bool has_room(const MatrixDevice& device, const MatrixTile& tile);

// All that the device has room for and gets right, the smallest first.
std::vector<MatrixTile> matrix_tiles(const MatrixDevice& device);

// What is likely to be fast for `batch` products [m, k] . [k, n]. There is a tile.
MatrixTile choose_matrix_tile(const MatrixDevice& device, std::uint32_t m, std::uint32_t n, std::uint64_t batch);

}  // namespace headscope::vulkan
