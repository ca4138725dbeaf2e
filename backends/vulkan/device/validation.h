// The Khronos validation layer: its settings and its messages.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "backends/vulkan/device/loader.h"
#include "backends/vulkan/device/vk_layer_settings.h"

namespace headscope::vulkan {

// Messages of the layer, from any of the driver's threads.
class ValidationLog {
public:
    struct Messages {
        std::uint64_t count = 0;
        std::string first;
    };
    void add(const std::string& message);
    // Messages since the last call.
    Messages take();

private:
    std::mutex mutex_;
    Messages messages_;
};

// Enables the layer in an instance with core and synchronisation checks; between dispatches by what kernels access, as
// far as its version supports that.
class ValidationRequest {
public:
    // Error if the layer is not installed. `log` receives its messages.
    ValidationRequest(const Loader& loader, ValidationLog& log);
    ValidationRequest(const ValidationRequest&) = delete;
    ValidationRequest& operator=(const ValidationRequest&) = delete;

    // This object must live until the instance is created.
    void add_to(VkInstanceCreateInfo& info, std::vector<const char*>& extensions);
    // For the instance's own messenger.
    const VkDebugUtilsMessengerCreateInfoEXT& messenger() const { return messenger_; }

private:
    // Else by the structure known to loaders and layers before 2024, about which layers of 2025 warn.
    bool by_settings_;
    VkDebugUtilsMessengerCreateInfoEXT messenger_{};
    VkDebugUtilsMessengerCreateInfoEXT chained_messenger_{};
    std::array<VkLayerSettingEXT, 2> settings_{};
    VkLayerSettingsCreateInfoEXT settings_info_{};
    VkValidationFeaturesEXT features_{};
};

}  // namespace headscope::vulkan
