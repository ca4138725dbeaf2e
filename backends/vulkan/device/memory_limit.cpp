#include "backends/vulkan/device/memory_limit.h"

#include <algorithm>

namespace headscope::vulkan {

namespace {

// Minus a reserve for the driver: pipelines, descriptors and command buffers are allocated during work, which cannot be
// submitted without them. On a small GPU the reserve may not be most of the memory.
std::uint64_t without_reserve(std::uint64_t bytes) {
    constexpr std::uint64_t kReserve = std::uint64_t{128} << 20U;
    constexpr std::uint64_t kPartOfLarge = 20;
    constexpr std::uint64_t kPartOfSmall = 4;
    return bytes - std::min(std::max(kReserve, bytes / kPartOfLarge), bytes / kPartOfSmall);
}

}  // namespace

MemoryLimit memory_limit(const Heap& heap, std::uint64_t held, std::uint64_t wanted) {
    MemoryLimit limit;
    if (heap.budget > 0) {
        const std::uint64_t budget = heap.size > 0 ? std::min(heap.budget, heap.size) : heap.budget;
        // A software driver uses host memory, of which its budget is only a part.
        const std::uint64_t most = heap.software ? budget : without_reserve(budget);
        // Memory used by others, such as a window, counts too.
        const std::uint64_t used = std::max(heap.used, held);
        limit = {held + (most > used ? most - used : 0), "what the driver leaves to this program now"};
    } else if (!heap.software && heap.size > 0) {
        limit = {without_reserve(heap.size), "the device's memory"};
    }
    if (wanted > 0 && wanted < limit.bytes) {
        limit = {wanted, "HEADSCOPE_VULKAN_MAX_MEMORY"};
    }
    return limit;
}

}  // namespace headscope::vulkan
