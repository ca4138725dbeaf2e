#include <cstdint>
#include <cstring>
#include <string>

#include "backends/vulkan/device/vk_layer_settings.h"
#include "fake_functions.h"

namespace headscope::fake {

namespace {

constexpr const char* kLayer = "VK_LAYER_KHRONOS_validation";

// Of the last instance.
VkDebugUtilsMessengerCreateInfoEXT messenger{};

VKAPI_ATTR VkResult VKAPI_CALL layers(std::uint32_t* count, VkLayerProperties* found) {
    const std::uint32_t has = state.layer == nullptr ? 0 : 1;
    if (found != nullptr && has > 0 && *count > 0) {
        *found = {};
        std::strcpy(found->layerName, kLayer);
    }
    *count = has;
    return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL create_messenger(VkInstance /*instance*/, const VkDebugUtilsMessengerCreateInfoEXT* info,
                                                const VkAllocationCallbacks* /*allocator*/,
                                                VkDebugUtilsMessengerEXT* made) {
    messenger = *info;
    *made = handle_of<VkDebugUtilsMessengerEXT>(1);
    return VK_SUCCESS;
}

VKAPI_ATTR void VKAPI_CALL destroy_messenger(VkInstance /*instance*/, VkDebugUtilsMessengerEXT /*made*/,
                                             const VkAllocationCallbacks* /*allocator*/) {
    messenger = {};
}

void note_settings(const VkLayerSettingsCreateInfoEXT& settings) {
    for (std::uint32_t index = 0; index < settings.settingCount; ++index) {
        const VkLayerSettingEXT& setting = settings.pSettings[index];
        if (is_layer(setting.pLayerName) && setting.type == VK_LAYER_SETTING_TYPE_BOOL32_EXT) {
            for (std::uint32_t value = 0; value < setting.valueCount; ++value) {
                state.asked_of_layer.push_back(std::string("setting ") + setting.pSettingName + "=" +
                                               std::to_string(static_cast<const VkBool32*>(setting.pValues)[value]));
            }
        }
    }
}

void note_features(const VkValidationFeaturesEXT& features) {
    for (std::uint32_t index = 0; index < features.enabledValidationFeatureCount; ++index) {
        state.asked_of_layer.push_back("feature " + std::to_string(features.pEnabledValidationFeatures[index]));
    }
}

}  // namespace

bool is_layer(const char* name) {
    return state.layer != nullptr && std::strcmp(name, kLayer) == 0;
}

std::vector<const char*> layer_extensions() {
    std::vector<const char*> all{VK_EXT_DEBUG_UTILS_EXTENSION_NAME, VK_EXT_VALIDATION_FEATURES_EXTENSION_NAME};
    if (state.layer->takes_settings) {
        all.push_back(VK_EXT_LAYER_SETTINGS_EXTENSION_NAME);
    }
    return all;
}

void turn_layer_on(const VkInstanceCreateInfo& info) {
    state.asked_of_layer.clear();
    for (std::uint32_t index = 0; index < info.enabledExtensionCount; ++index) {
        state.asked_of_layer.push_back(std::string("extension ") + info.ppEnabledExtensionNames[index]);
    }
    for (const auto* link = static_cast<const VkBaseInStructure*>(info.pNext); link != nullptr; link = link->pNext) {
        if (link->sType == VK_STRUCTURE_TYPE_LAYER_SETTINGS_CREATE_INFO_EXT) {
            note_settings(*reinterpret_cast<const VkLayerSettingsCreateInfoEXT*>(link));
        } else if (link->sType == VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT) {
            note_features(*reinterpret_cast<const VkValidationFeaturesEXT*>(link));
        } else if (link->sType == VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT) {
            state.asked_of_layer.push_back("messenger");
        }
    }
}

void say_messages() {
    if (state.layer == nullptr || messenger.pfnUserCallback == nullptr) {
        return;
    }
    for (const auto& [identifier, text] : state.layer->says) {
        VkDebugUtilsMessengerCallbackDataEXT data{};
        data.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CALLBACK_DATA_EXT;
        data.pMessageIdName = identifier;
        data.pMessage = text;
        messenger.pfnUserCallback(VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT,
                                  VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT, &data, messenger.pUserData);
    }
}

PFN_vkVoidFunction validation_function(const char* name) {
    static const Named kFunctions[] = {
        named("vkEnumerateInstanceLayerProperties", layers),
        named("vkCreateDebugUtilsMessengerEXT", create_messenger),
        named("vkDestroyDebugUtilsMessengerEXT", destroy_messenger),
    };
    return find(kFunctions, name);
}

}  // namespace headscope::fake
