// Numbers for the operands of trials.
#pragma once

#include <cstdint>
#include <vector>

#include "support/random.h"
#include "tensor/shape.h"

namespace headscope::vulkan {

// In [-1, 1), the same for the same seed.
inline std::vector<float> noise(const Shape& shape, std::uint64_t seed) {
    Random random(seed);
    std::vector<float> values(static_cast<std::size_t>(shape.elements()));
    for (float& value : values) {
        value = static_cast<float>(random.below(1U << 24U)) / static_cast<float>(1U << 23U) - 1.0F;
    }
    return values;
}

}  // namespace headscope::vulkan
