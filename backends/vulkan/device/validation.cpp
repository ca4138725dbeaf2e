#include "backends/vulkan/device/validation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "backends/vulkan/device/listing.h"
#include "support/check.h"

namespace headscope::vulkan {

namespace {

constexpr const char* kLayer = "VK_LAYER_KHRONOS_validation";
constexpr VkBool32 kOn = VK_TRUE;
constexpr VkValidationFeatureEnableEXT kSynchronisation = VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT;
// The second, which tracks accesses of dispatches, is off by default since 1.3.290.
constexpr std::array kSettings{"validate_sync", "syncval_shader_accesses_heuristic"};
// The first loader that lets an instance request these; older ones reject unknown extensions.
constexpr std::uint32_t kPassesSettings = VK_MAKE_API_VERSION(0, 1, 3, 272);

VKAPI_ATTR VkBool32 VKAPI_CALL on_message(VkDebugUtilsMessageSeverityFlagBitsEXT /*severity*/,
                                          VkDebugUtilsMessageTypeFlagsEXT /*types*/,
                                          const VkDebugUtilsMessengerCallbackDataEXT* data, void* log) {
    // Messages about how the layer was enabled do not matter, unless a requested setting is gone.
    const bool of_settings =
        data->pMessageIdName != nullptr && std::strcmp(data->pMessageIdName, "VALIDATION-SETTINGS") == 0;
    const bool of_ours = std::any_of(kSettings.begin(), kSettings.end(), [&](const char* setting) {
        return std::strstr(data->pMessage, setting) != nullptr;
    });
    if (!of_settings || of_ours) {
        static_cast<ValidationLog*>(log)->add(data->pMessage);
    }
    return VK_FALSE;
}

bool has_layer(const Loader& loader) {
    const auto layers =
        listed<VkLayerProperties>("vkEnumerateInstanceLayerProperties", loader.vkEnumerateInstanceLayerProperties);
    return std::any_of(layers.begin(), layers.end(),
                       [](const VkLayerProperties& layer) { return std::strcmp(layer.layerName, kLayer) == 0; });
}

bool takes_settings(const Loader& loader) {
    std::uint32_t version = 0;
    check(loader.vkEnumerateInstanceVersion(&version), "vkEnumerateInstanceVersion");
    if (version < kPassesSettings) {
        return false;
    }
    const auto ask = [&](std::uint32_t* count, VkExtensionProperties* found) {
        return loader.vkEnumerateInstanceExtensionProperties(kLayer, count, found);
    };
    return contains(listed<VkExtensionProperties>("vkEnumerateInstanceExtensionProperties", ask),
                    VK_EXT_LAYER_SETTINGS_EXTENSION_NAME);
}

}  // namespace

void ValidationLog::add(const std::string& message) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (messages_.count++ == 0) {
        messages_.first = message;
    }
}

ValidationLog::Messages ValidationLog::take() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return std::exchange(messages_, {});
}

ValidationRequest::ValidationRequest(const Loader& loader, ValidationLog& log) {
    if (!has_layer(loader)) {
        throw Error(
            fmt::format("HEADSCOPE_VULKAN_VALIDATION is set and the layer {} is not installed: install "
                        "vulkan-validationlayers",
                        kLayer));
    }
    by_settings_ = takes_settings(loader);
    messenger_.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT;
    messenger_.messageSeverity =
        VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT;
    messenger_.messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT;
    messenger_.pfnUserCallback = on_message;
    messenger_.pUserData = &log;
    chained_messenger_ = messenger_;
    std::transform(kSettings.begin(), kSettings.end(), settings_.begin(), [](const char* name) {
        return VkLayerSettingEXT{kLayer, name, VK_LAYER_SETTING_TYPE_BOOL32_EXT, 1, &kOn};
    });
    settings_info_.sType = VK_STRUCTURE_TYPE_LAYER_SETTINGS_CREATE_INFO_EXT;
    settings_info_.settingCount = static_cast<std::uint32_t>(settings_.size());
    settings_info_.pSettings = settings_.data();
    features_.sType = VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT;
    features_.enabledValidationFeatureCount = 1;
    features_.pEnabledValidationFeatures = &kSynchronisation;
}

void ValidationRequest::add_to(VkInstanceCreateInfo& info, std::vector<const char*>& extensions) {
    chained_messenger_.pNext = info.pNext;
    settings_info_.pNext = features_.pNext = &chained_messenger_;
    info.pNext = by_settings_ ? static_cast<const void*>(&settings_info_) : &features_;
    info.enabledLayerCount = 1;
    info.ppEnabledLayerNames = &kLayer;
    extensions.push_back(VK_EXT_DEBUG_UTILS_EXTENSION_NAME);
    extensions.push_back(by_settings_ ? VK_EXT_LAYER_SETTINGS_EXTENSION_NAME
                                      : VK_EXT_VALIDATION_FEATURES_EXTENSION_NAME);
}

}  // namespace headscope::vulkan
