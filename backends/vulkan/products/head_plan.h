// Whether and how a head of attention runs on matrices (shaders/include/cooperative_memory.glsl): pure functions,
// testable without a device.
#pragma once

#include <cstdint>
#include <optional>

#include "backends/vulkan/device/matrix_tiles.h"

namespace headscope::vulkan {

struct HeadShape {
    std::int64_t heads = 1;          // of all sentences; of gradients, groups of heads that share keys
    std::int64_t heads_of_each = 1;  // of a group, whose heads take turns
    std::int64_t queries = 0;
    std::int64_t keys = 0;
    std::int64_t depth = 0;
    std::int64_t value_depth = 0;
    bool backward = false;
};

struct HeadPlan {
    std::uint32_t rows = 0;          // queries that are at work at once
    std::uint32_t subgroups = 0;     // of a workgroup
    std::uint32_t padded_keys = 0;   // whole matrices
    std::uint32_t shared_bytes = 0;  // of a workgroup
    bool operator==(const HeadPlan&) const = default;
};

// Null if the head does not fit a workgroup, is too deep, has too few queries to fill a matrix, or so many that too few
// heads would take them one after the other.
std::optional<HeadPlan> plan_head(const MatrixDevice& device, const HeadShape& shape);

}  // namespace headscope::vulkan
