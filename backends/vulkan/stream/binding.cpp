#include "backends/vulkan/stream/binding.h"

#include <algorithm>

#include "backends/vulkan/stream/memory.h"
#include "support/check.h"

namespace headscope::vulkan {

Binding binding_of(const Tensor& tensor, std::uint64_t alignment) {
    const auto* buffer = dynamic_cast<const VulkanBuffer*>(tensor.buffer.get());
    HEADSCOPE_CHECK(buffer != nullptr, "a tensor of another backend was given to vulkan: " + tensor.to_string());
    std::uint64_t span = 1;
    for (int dim = 0; dim < tensor.rank(); ++dim) {
        span += tensor.dim(dim) > 0 ? static_cast<std::uint64_t>((tensor.dim(dim) - 1) * tensor.stride(dim)) : 0;
    }
    span = tensor.elements() == 0 ? 0 : span;
    const std::uint64_t size = size_of(tensor.dtype);
    const std::uint64_t first = static_cast<std::uint64_t>(tensor.offset) * size;
    HEADSCOPE_CHECK(first + span * size <= buffer->bytes(), "a tensor reaches past its buffer: " + tensor.to_string());
    // An empty view at a buffer's end would otherwise bind what follows the buffer.
    const std::uint64_t start = buffer->offset() + (span == 0 ? 0 : first);
    Binding binding;
    binding.block = buffer->block();
    binding.begin = start / alignment * alignment;
    binding.offset = static_cast<std::uint32_t>((start - binding.begin) / size);
    binding.bytes = std::max<std::uint64_t>((start + span * size - binding.begin + 3) / 4 * 4, 4);
    return binding;
}

}  // namespace headscope::vulkan
