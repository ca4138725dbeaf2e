// Which kernel multiplies, in blocks of which size: pure, so that it is tested without a device.
#pragma once

#include <cstdint>

#include "backends/vulkan/options.h"
#include "backends/vulkan/pipelines.h"

namespace headscope::vulkan {

struct ProductDevice {
    bool software = false;
    bool vector_loads = true;
    bool subgroup_shuffles = false;  // and workgroups that are one subgroup
    std::uint32_t subgroup_size = 1;
    ProductTiles tiles = ProductTiles::Device;
};

// out [m, n] = a b, `batch` times. An operand lies in fours where each row or column of it, whichever way it is
// contiguous, starts at a multiple of four elements.
struct ProductShape {
    std::uint32_t m = 0;
    std::uint32_t n = 0;
    std::uint32_t k = 0;
    std::uint64_t batch = 1;
    bool a_along_k = true;  // contiguous along k, else along m
    bool b_along_k = false;
    bool a_in_fours = false;
    bool b_in_fours = false;
    bool out_in_fours = false;
    std::uint32_t rounding = 0;  // as numbered in round.glsl
};

struct ProductPlan {
    Kernel kernel{};
    Specialisation specialisation;
    std::uint64_t groups = 0;
    std::uint64_t work_per_group = 0;
};

ProductPlan plan_product(const ProductDevice& device, const ProductShape& shape);

// Parts that a product's sum is cut into, so that a device has work for all of its cores: 1 for none. The parts are of
// one length, a multiple of 4.
std::uint32_t split_sum(const ProductDevice& device, const ProductShape& shape);

}  // namespace headscope::vulkan
