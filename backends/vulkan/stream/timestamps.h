// Places for the device's timestamps, in pools that are created as needed.
#pragma once

#include <cstdint>
#include <vector>

#include "backends/vulkan/device/device.h"

namespace headscope::vulkan {

class Timestamps {
public:
    struct Place {
        VkQueryPool pool = VK_NULL_HANDLE;
        std::uint32_t index = 0;
    };

    explicit Timestamps(const Device& device) : device_(device) {}
    Timestamps(const Timestamps&) = delete;
    Timestamps& operator=(const Timestamps&) = delete;
    ~Timestamps();

    Place take();
    void give_back(const Place& place) { free_.push_back(place); }

    // Enqueues a timestamp for when everything before it is done.
    void write(VkCommandBuffer commands, const Place& place) const;
    // Between two places that have been written.
    double seconds_between(const Place& earlier, const Place& later) const;

private:
    static constexpr std::uint32_t kPlacesPerPool = 512;
    std::uint64_t read(const Place& place) const;

    const Device& device_;
    std::vector<VkQueryPool> pools_;
    std::vector<Place> free_;
};

// From one reading of a clock with `bits` bits, which wraps around, to a later one.
std::uint64_t ticks_between(std::uint64_t earlier, std::uint64_t later, std::uint32_t bits);

}  // namespace headscope::vulkan
