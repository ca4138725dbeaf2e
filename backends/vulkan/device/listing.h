// Vulkan's two-call lists: first the number of items, then the items.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "backends/vulkan/device/loader.h"

namespace headscope::vulkan {

// Calls `ask(&count, items)`, again if the number grew in between. Error naming `call` on failure.
template <class Item, class Ask>
std::vector<Item> listed(const char* call, const Ask& ask) {
    constexpr int kMostTimes = 8;  // then the list at that time is used
    std::vector<Item> items;
    VkResult result = VK_INCOMPLETE;
    for (int time = 0; result == VK_INCOMPLETE && time < kMostTimes; ++time) {
        std::uint32_t count = 0;
        check(ask(&count, nullptr), call);
        items.resize(count);
        result = ask(&count, items.data());
        items.resize(std::min<std::size_t>(count, items.size()));
    }
    if (result != VK_INCOMPLETE) {
        check(result, call);
    }
    return items;
}

inline bool contains(const std::vector<VkExtensionProperties>& extensions, const char* name) {
    return std::any_of(extensions.begin(), extensions.end(), [&](const VkExtensionProperties& extension) {
        return std::strcmp(extension.extensionName, name) == 0;
    });
}

}  // namespace headscope::vulkan
