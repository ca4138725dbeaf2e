// Reads the buffers of a SPIR-V module, so that they need not be declared twice.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace headscope::vulkan {

// A storage buffer that the shader may write or only reads, or a texel buffer.
enum class BindingKind : std::uint8_t { Written, Read, Texels };

// One entry for each binding 0..N-1 of set 0. CheckFailure for a gap or another set.
std::vector<BindingKind> bindings_of(std::span<const std::uint32_t> spirv);

// Whether it uses subgroup operations, including matrices.
bool uses_subgroups(std::span<const std::uint32_t> spirv);

}  // namespace headscope::vulkan
