#include "backends/vulkan/stream/timestamps.h"

namespace headscope::vulkan {

Timestamps::~Timestamps() {
    for (const VkQueryPool pool : pools_) {
        device_.functions().vkDestroyQueryPool(device_.handle(), pool, nullptr);
    }
}

Timestamps::Place Timestamps::take() {
    if (free_.empty()) {
        VkQueryPoolCreateInfo info{};
        info.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO;
        info.queryType = VK_QUERY_TYPE_TIMESTAMP;
        info.queryCount = kPlacesPerPool;
        VkQueryPool pool = VK_NULL_HANDLE;
        check(device_.functions().vkCreateQueryPool(device_.handle(), &info, nullptr, &pool), "vkCreateQueryPool");
        pools_.push_back(pool);
        for (std::uint32_t index = kPlacesPerPool; index-- > 0;) {
            free_.push_back({pool, index});
        }
    }
    const Place place = free_.back();
    free_.pop_back();
    return place;
}

void Timestamps::write(VkCommandBuffer commands, const Place& place) const {
    const DeviceFunctions& functions = device_.functions();
    functions.vkCmdResetQueryPool(commands, place.pool, place.index, 1);
    functions.vkCmdWriteTimestamp(commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, place.pool, place.index);
}

std::uint64_t Timestamps::read(const Place& place) const {
    std::uint64_t ticks = 0;
    check(device_.functions().vkGetQueryPoolResults(device_.handle(), place.pool, place.index, 1, sizeof ticks, &ticks,
                                                    sizeof ticks, VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT),
          "vkGetQueryPoolResults");
    return ticks;
}

double Timestamps::seconds_between(const Place& earlier, const Place& later) const {
    constexpr double kNano = 1e-9;
    const Capabilities& found = device_.capabilities();
    return static_cast<double>(ticks_between(read(earlier), read(later), found.timestamp_bits)) * kNano *
           static_cast<double>(found.properties.limits.timestampPeriod);
}

std::uint64_t ticks_between(std::uint64_t earlier, std::uint64_t later, std::uint32_t bits) {
    const std::uint64_t mask = bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
    return (later - earlier) & mask;
}

}  // namespace headscope::vulkan
