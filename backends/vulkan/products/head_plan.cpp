#include "backends/vulkan/products/head_plan.h"

#include <algorithm>

namespace headscope::vulkan {

namespace {

// As in shaders/include/cooperative_memory.glsl.
constexpr std::uint32_t kWhole = kHeadPadding;
constexpr std::uint32_t kGap = 4;  // words after each row

std::uint32_t padded(std::int64_t size) {
    return (static_cast<std::uint32_t>(size) + kWhole - 1) / kWhole * kWhole;
}

std::uint32_t shared_words(const MatrixDevice& device, const HeadShape& shape, const HeadPlan& plan) {
    const std::uint32_t tables = shape.backward ? 2 : 1;
    const std::uint32_t pitch = padded(shape.depth) / 2 + kGap;
    const std::uint32_t value_pitch = padded(shape.value_depth) / 2 + kGap;
    const std::uint32_t operands =
        plan.padded_keys * (pitch + value_pitch) + plan.rows * (pitch + (tables - 1) * value_pitch);
    const std::uint32_t weights = tables * plan.rows * (plan.padded_keys / 2 + kGap);
    const std::uint32_t scores = tables * plan.rows * (plan.padded_keys + kGap);
    const std::uint32_t results = plan.subgroups * device.sizes.m * device.sizes.n;
    return operands + weights + plan.subgroups * device.subgroup_size + std::max(scores, results);
}

// Of the gradients of keys and values, that an invocation keeps in registers.
std::uint32_t kept_sums(const MatrixDevice& device, const HeadShape& shape, const HeadPlan& plan) {
    const std::uint32_t of_matrix = device.sizes.m * device.sizes.n;
    const auto own = [&](std::int64_t depth) {
        const std::uint32_t matrices = plan.padded_keys * padded(depth) / of_matrix;
        return (matrices + plan.subgroups - 1) / plan.subgroups * of_matrix / device.subgroup_size;
    };
    return shape.backward ? own(shape.depth) + own(shape.value_depth) : 0;
}

}  // namespace

std::optional<HeadPlan> plan_head(const MatrixDevice& device, const HeadShape& shape) {
    constexpr std::int64_t kFewest = 5;  // queries: decoding's have kernels of their own
    constexpr std::int64_t kDeepest = 128;
    constexpr std::int64_t kMostKeys = 128;
    // A workgroup takes the queries of a head one step after the other, so that many need heads that fill a GPU.
    constexpr std::int64_t kMostQueries = 4 * kMostKeys;
    constexpr std::int64_t kManyHeads = 256;
    // llvmpipe leaves a kernel once its loops have run 65,535 times in all: the emulation's in products of this size.
    constexpr std::int64_t kMostEmulated = std::int64_t{1} << 21U;
    // An invocation has 128 to 256 registers.
    constexpr std::uint32_t kMostSums = 96;
    constexpr std::uint32_t kSharing = 8;  // invocations of a row of scores, at least: one philox gives eight weights
    const std::int64_t in_turn = shape.queries * shape.heads_of_each;
    const bool too_serial = in_turn > kMostQueries && shape.heads < kManyHeads;
    const std::int64_t products = in_turn * shape.keys * (shape.depth + shape.value_depth);
    if (!fit_heads(device.sizes) || too_serial || shape.queries < kFewest || shape.keys < 1 || shape.keys > kMostKeys ||
        shape.depth < 1 || shape.value_depth < 1 || std::max(shape.depth, shape.value_depth) > kDeepest ||
        (device.emulated && products > kMostEmulated)) {
        return std::nullopt;
    }
    for (const std::uint32_t subgroups : {4U, 8U}) {
        HeadPlan plan{.subgroups = subgroups, .padded_keys = padded(shape.keys)};
        const std::uint32_t lanes = subgroups * device.subgroup_size;
        if (lanes > device.most_invocations || lanes % kWhole != 0 || kept_sums(device, shape, plan) > kMostSums) {
            continue;
        }
        // As many rows as these invocations can share, or half of them and less if that is enough for all queries or
        // the shared memory has no room for more.
        for (plan.rows = std::max(lanes / kSharing, kWhole); plan.rows >= kWhole; plan.rows /= 2) {
            plan.shared_bytes = shared_words(device, shape, plan) * static_cast<std::uint32_t>(sizeof(std::uint32_t));
            const bool smaller_does = plan.rows > kWhole && plan.rows / 2 >= padded(shape.queries);
            if (!smaller_does && plan.shared_bytes <= device.shared_bytes) {
                return plan;
            }
        }
    }
    return std::nullopt;
}

}  // namespace headscope::vulkan
