// A SPIR-V module, instruction by instruction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "support/check.h"

namespace headscope::vulkan {

inline constexpr std::size_t kSpirvHeader = 5;  // words

// Opcodes with several users, from the SPIR-V specification, section 3.42.
inline constexpr std::uint32_t kOpExtension = 10;
inline constexpr std::uint32_t kOpEntryPoint = 15;
inline constexpr std::uint32_t kOpExecutionMode = 16;
inline constexpr std::uint32_t kOpCapability = 17;

struct Instruction {
    std::uint32_t op;
    std::span<const std::uint32_t> operands;
    std::span<const std::uint32_t> words;  // including the first
};

inline void append_instruction(std::vector<std::uint32_t>& module, std::uint32_t op,
                               std::span<const std::uint32_t> operands) {
    module.push_back(static_cast<std::uint32_t>(operands.size() + 1) << 16U | op);
    module.insert(module.end(), operands.begin(), operands.end());
}

// CheckFailure for a truncated module.
template <class Visit>
void for_each_instruction(std::span<const std::uint32_t> spirv, Visit visit) {
    for (std::size_t at = kSpirvHeader; at < spirv.size();) {
        const std::uint32_t words = spirv[at] >> 16U;
        HEADSCOPE_CHECK(words > 0 && at + words <= spirv.size(), "the SPIR-V module is cut short");
        visit(Instruction{spirv[at] & 0xffffU, spirv.subspan(at + 1, words - 1), spirv.subspan(at, words)});
        at += words;
    }
}

}  // namespace headscope::vulkan
