// How much device memory a backend may hold: a pure function, testable without a device.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

namespace headscope::vulkan {

// A heap as the driver reports it now.
struct Heap {
    std::uint64_t size = 0;
    // VK_EXT_memory_budget: how much this program may use before others suffer, and how much it uses. 0 if not
    // reported.
    std::uint64_t budget = 0;
    std::uint64_t used = 0;
    bool software = false;  // of a CPU: the size is Mesa's invention
};

struct MemoryLimit {
    std::uint64_t bytes = std::numeric_limits<std::uint64_t>::max();
    std::string reason;  // "HEADSCOPE_VULKAN_MAX_MEMORY"
};

// `held` is what the backend has; `wanted` is the user's limit, 0 for none. Some of a GPU's memory is left to its
// driver.
MemoryLimit memory_limit(const Heap& heap, std::uint64_t held, std::uint64_t wanted);

}  // namespace headscope::vulkan
