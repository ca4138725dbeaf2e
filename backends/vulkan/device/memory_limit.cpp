#include "backends/vulkan/device/memory_limit.h"

#include <algorithm>

namespace headscope::vulkan {

namespace {

// Without what the driver is left for itself: pipelines, descriptors and commands, which come with the work and without
// which no work is submitted. Of a small GPU that may not be most of what there is.
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
        // What a CPU's driver needs is the host's memory, of which its budget is but a part.
        const std::uint64_t most = heap.software ? budget : without_reserve(budget);
        // What is used beside the backend's own, such as by a window, counts against it.
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
