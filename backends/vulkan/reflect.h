// What a SPIR-V module says of its buffers, so that nobody has to say it twice.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace headscope::vulkan {

struct ShaderBinding {
    bool writable = false;  // the shader may write it
    bool texels = false;    // a buffer of texels, else a storage buffer
    bool operator==(const ShaderBinding&) const = default;
};

// One entry for each binding 0..N-1 of set 0. CheckFailure for a gap or another set.
std::vector<ShaderBinding> bindings_of(std::span<const std::uint32_t> spirv);

}  // namespace headscope::vulkan
