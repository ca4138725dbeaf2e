// The Khronos validation layer: what is asked of it, and what it said.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "backends/vulkan/device/loader.h"
#include "backends/vulkan/device/vk_layer_settings.h"

namespace headscope::vulkan {

// Messages of the layer, which may come from any of the driver's threads.
class ValidationLog {
public:
    struct Messages {
        std::uint64_t count = 0;
        std::string first;
    };
    void add(const std::string& message);
    // Those since the last call.
    Messages take();

private:
    std::mutex mutex_;
    Messages messages_;
};

// Turns the layer on in an instance, with its core checks and those of synchronisation, between dispatches by what the
// kernels access as far as its version can.
class ValidationRequest {
public:
    // Error where the layer is not installed. `log` takes its messages.
    ValidationRequest(const Loader& loader, ValidationLog& log);
    ValidationRequest(const ValidationRequest&) = delete;
    ValidationRequest& operator=(const ValidationRequest&) = delete;

    // What this holds has to live until the instance is made.
    void add_to(VkInstanceCreateInfo& info, std::vector<const char*>& extensions);
    // Of the instance's own messenger.
    const VkDebugUtilsMessengerCreateInfoEXT& messenger() const { return messenger_; }

private:
    // Else by the structure that loaders and layers of before 2024 know, and layers of 2025 warn of.
    bool by_settings_;
    VkDebugUtilsMessengerCreateInfoEXT messenger_{};
    VkDebugUtilsMessengerCreateInfoEXT chained_messenger_{};
    std::array<VkLayerSettingEXT, 2> settings_{};
    VkLayerSettingsCreateInfoEXT settings_info_{};
    VkValidationFeaturesEXT features_{};
};

}  // namespace headscope::vulkan
