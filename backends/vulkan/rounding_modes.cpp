#include "backends/vulkan/rounding_modes.h"

#include <array>

#include "backends/vulkan/spirv.h"

namespace headscope::vulkan {

namespace {

// OpExecutionMode, and RoundingModeRTE of its modes (SPIR-V, 3.49.5 and 3.6): entry point, mode, width.
constexpr std::uint32_t kOpExecutionMode = 16;
constexpr std::uint32_t kRoundingModeRte = 4462;

bool rounds_halves(const Instruction& instruction) {
    return instruction.op == kOpExecutionMode && instruction.operands.size() == 3 &&
           instruction.operands[1] == kRoundingModeRte && instruction.operands[2] == 16;
}

}  // namespace

std::vector<std::uint32_t> rounded_alike(const VkPhysicalDeviceFloatControlsProperties& floats) {
    std::vector<std::uint32_t> widths;
    if (floats.roundingModeIndependence == VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_NONE &&
        floats.shaderRoundingModeRTEFloat32 == VK_TRUE) {
        widths.push_back(32);
    }
    if (floats.roundingModeIndependence != VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_ALL &&
        floats.shaderRoundingModeRTEFloat64 == VK_TRUE) {
        widths.push_back(64);
    }
    return widths;
}

std::vector<std::uint32_t> with_rounding(std::span<const std::uint32_t> spirv, std::span<const std::uint32_t> widths) {
    std::vector<std::uint32_t> module(spirv.begin(), spirv.begin() + kSpirvHeader);
    for_each_instruction(spirv, [&](const Instruction& instruction) {
        module.insert(module.end(), instruction.words.begin(), instruction.words.end());
        if (!rounds_halves(instruction)) {
            return;
        }
        for (const std::uint32_t width : widths) {
            module.insert(module.end(), instruction.words.begin(), instruction.words.end());
            module.back() = width;
        }
    });
    return module;
}

}  // namespace headscope::vulkan
