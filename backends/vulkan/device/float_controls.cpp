#include "backends/vulkan/device/float_controls.h"

#include <array>

#include "backends/vulkan/device/spirv.h"

namespace headscope::vulkan {

namespace {

// Numbers from the SPIR-V specification, sections 3.6 and 3.31.
constexpr std::uint32_t kSignedZeroInfNanPreserve = 4461;
constexpr std::uint32_t kRoundingModeRte = 4462;
constexpr std::uint32_t kSignedZeroInfNanPreserveCapability = 4466;

// Its operands: entry point, mode, width.
bool rounds_halves(const Instruction& instruction) {
    return instruction.op == kOpExecutionMode && instruction.operands.size() == 3 &&
           instruction.operands[1] == kRoundingModeRte && instruction.operands[2] == 16;
}

}  // namespace

FloatControls float_controls_of(const VkPhysicalDeviceFloatControlsProperties& properties) {
    FloatControls controls{.keeps_specials = properties.shaderSignedZeroInfNanPreserveFloat32 == VK_TRUE,
                           .rounds_halves = properties.shaderRoundingModeRTEFloat16 == VK_TRUE};
    if (properties.roundingModeIndependence == VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_NONE &&
        properties.shaderRoundingModeRTEFloat32 == VK_TRUE) {
        controls.rounded_alike.push_back(32);
    }
    if (properties.roundingModeIndependence != VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_ALL &&
        properties.shaderRoundingModeRTEFloat64 == VK_TRUE) {
        controls.rounded_alike.push_back(64);
    }
    return controls;
}

std::vector<std::uint32_t> with_float_controls(std::span<const std::uint32_t> spirv, const FloatControls& controls) {
    std::vector<std::uint32_t> module(spirv.begin(), spirv.begin() + kSpirvHeader);
    if (controls.keeps_specials) {
        append_instruction(module, kOpCapability, std::array{kSignedZeroInfNanPreserveCapability});
    }
    for_each_instruction(spirv, [&](const Instruction& instruction) {
        module.insert(module.end(), instruction.words.begin(), instruction.words.end());
        const auto& operands = instruction.operands;
        if (instruction.op == kOpEntryPoint && controls.keeps_specials) {  // a kernel has exactly one
            append_instruction(module, kOpExecutionMode, std::array{operands[1], kSignedZeroInfNanPreserve, 32U});
        } else if (rounds_halves(instruction)) {
            for (const std::uint32_t width : controls.rounded_alike) {
                append_instruction(module, kOpExecutionMode, std::array{operands[0], kRoundingModeRte, width});
            }
        }
    });
    return module;
}

}  // namespace headscope::vulkan
