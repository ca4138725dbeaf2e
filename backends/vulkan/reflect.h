// What a SPIR-V module says of its storage buffers, so that nobody has to say it twice.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace headscope::vulkan {

// One entry for each binding 0..N-1 of set 0: whether the shader may write it. CheckFailure for a gap or another set.
std::vector<bool> writable_bindings(std::span<const std::uint32_t> spirv);

}  // namespace headscope::vulkan
