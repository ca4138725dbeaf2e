// How much of the device's memory a backend may hold: pure, so that it is tested without a device.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

namespace headscope::vulkan {

// A heap as the driver describes it now.
struct Heap {
    std::uint64_t size = 0;
    // VK_EXT_memory_budget: what this program may take of it before others suffer, and what it has. 0 where the driver
    // does not say.
    std::uint64_t budget = 0;
    std::uint64_t used = 0;
    bool software = false;  // of a CPU: its size is a number that Mesa made up
};

struct MemoryLimit {
    std::uint64_t bytes = std::numeric_limits<std::uint64_t>::max();
    std::string reason;  // "HEADSCOPE_VULKAN_MAX_MEMORY"
};

// `held` by the backend already; `wanted` is the user's limit, 0 for none. Of a GPU's memory some is left to its
// driver.
MemoryLimit memory_limit(const Heap& heap, std::uint64_t held, std::uint64_t wanted);

}  // namespace headscope::vulkan
