// Specialisation constants of convert.comp.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "backends/vulkan/stream/pipelines.h"
#include "support/check.h"
#include "tensor/dtype.h"

namespace headscope::vulkan {

inline constexpr std::array<DType, 3> kConverted{DType::F16, DType::BF16, DType::F32};  // in its numbering

inline bool is_converted(DType dtype) {
    return std::find(kConverted.begin(), kConverted.end(), dtype) != kConverted.end();
}

// For converted types; the first constant is whether to use vec4 (`fours`).
inline decltype(Specialisation::extra) convert_constants(bool fours, std::uint32_t dimensions, bool accumulates,
                                                         DType from, DType to) {
    const auto number = [](DType dtype) {
        HEADSCOPE_CHECK(is_converted(dtype), "convert.comp knows no such type");
        return static_cast<std::uint32_t>(std::find(kConverted.begin(), kConverted.end(), dtype) - kConverted.begin());
    };
    return {fours ? 1U : 0U, dimensions, accumulates ? 1U : 0U, number(from), number(to)};
}

}  // namespace headscope::vulkan
