#include "backends/vulkan/memory_limit.h"

namespace headscope::vulkan {

MemoryLimit memory_limit(const Heap& heap, std::uint64_t held, std::uint64_t wanted) {
    MemoryLimit limit;
    if (heap.budget > 0) {
        // What is used beside the backend's own, such as by a window, counts against it.
        limit = {held + (heap.budget > heap.used ? heap.budget - heap.used : 0),
                 "what the driver leaves to this program now"};
    } else if (!heap.software && heap.size > 0) {
        limit = {heap.size, "the device's memory"};
    }
    if (wanted > 0 && wanted < limit.bytes) {
        limit = {wanted, "HEADSCOPE_VULKAN_MAX_MEMORY"};
    }
    return limit;
}

}  // namespace headscope::vulkan
