// Products and devices for tests of how products are computed.
#pragma once

#include <cstdint>

#include "backends/vulkan/products/product_plan.h"

namespace headscope::vulkan_tests {

inline constexpr vulkan::ProductDevice kSoftware{.software = true, .subgroup_shuffles = true, .subgroup_size = 8};
inline constexpr vulkan::ProductDevice kGpu{.subgroup_shuffles = true, .subgroup_size = 32, .shared_bytes = 49152};

inline constexpr vulkan::MatrixDevice kMatrices{
    .sizes = {16, 16, 16}, .subgroup_size = 32, .shared_bytes = 49152, .most_invocations = 1024};

inline vulkan::ProductShape shape(std::uint32_t m, std::uint32_t n, std::uint32_t k) {
    return {.m = m,
            .n = n,
            .k = k,
            .a_vec4_aligned = true,
            .b_vec4_aligned = true,
            .a_pack_aligned = true,
            .b_pack_aligned = true};
}

}  // namespace headscope::vulkan_tests
