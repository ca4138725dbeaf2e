#include "backends/vulkan/device/control_flow.h"

#include <array>
#include <cstddef>

#include "backends/vulkan/device/spirv.h"

namespace headscope::vulkan {

namespace {

// From the SPIR-V specification, section 3.6.
constexpr std::uint32_t kSubgroupUniformControlFlow = 4421;

// A literal string: its bytes, lowest first within a word, terminated by at least one zero.
constexpr char kExtension[] = "SPV_KHR_subgroup_uniform_control_flow";

std::array<std::uint32_t, (sizeof kExtension + 3) / 4> extension_words() {
    std::array<std::uint32_t, (sizeof kExtension + 3) / 4> words{};
    for (std::size_t at = 0; kExtension[at] != '\0'; ++at) {
        words[at / 4] |= static_cast<std::uint32_t>(static_cast<unsigned char>(kExtension[at])) << (at % 4 * 8);
    }
    return words;
}

}  // namespace

std::vector<std::uint32_t> with_uniform_control_flow(std::span<const std::uint32_t> spirv) {
    std::vector<std::uint32_t> module(spirv.begin(), spirv.begin() + kSpirvHeader);
    bool declared = false;
    for_each_instruction(spirv, [&](const Instruction& instruction) {
        if (instruction.op != kOpCapability && !declared) {  // extensions follow capabilities
            append_instruction(module, kOpExtension, extension_words());
            declared = true;
        }
        module.insert(module.end(), instruction.words.begin(), instruction.words.end());
        if (instruction.op == kOpEntryPoint) {  // a kernel has exactly one
            append_instruction(module, kOpExecutionMode,
                               std::array{instruction.operands[1], kSubgroupUniformControlFlow});
        }
    });
    return module;
}

}  // namespace headscope::vulkan
