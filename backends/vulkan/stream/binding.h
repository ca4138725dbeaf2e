// A tensor's place in memory as a descriptor describes it.
#pragma once

#include <cstdint>

#include "tensor/tensor.h"

namespace headscope::vulkan {

constexpr std::uint64_t kTexelBytes = 16;  // a vec4

constexpr std::uint64_t whole_texels(std::uint64_t bytes) {
    return (bytes + kTexelBytes - 1) / kTexelBytes * kTexelBytes;
}

struct Binding {
    std::uint32_t block = 0;
    std::uint64_t begin = 0;   // bytes, aligned for a descriptor
    std::uint64_t bytes = 0;   // a multiple of 4
    std::uint32_t offset = 0;  // elements from begin to the tensor's first
};

// `begin` is a multiple of `alignment`. Error for a tensor of another backend, or one that exceeds its buffer.
Binding binding_of(const Tensor& tensor, std::uint64_t alignment);

}  // namespace headscope::vulkan
