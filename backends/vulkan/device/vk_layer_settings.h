// VK_EXT_layer_settings from the Vulkan registry, for older headers (Debian 12).
#pragma once

#include <vulkan/vulkan.h>

#include <cstdint>

#ifndef VK_EXT_layer_settings
#define VK_EXT_layer_settings 1
#define VK_EXT_LAYER_SETTINGS_EXTENSION_NAME "VK_EXT_layer_settings"

inline constexpr auto VK_STRUCTURE_TYPE_LAYER_SETTINGS_CREATE_INFO_EXT = static_cast<VkStructureType>(1000496000);

enum VkLayerSettingTypeEXT : std::uint32_t { VK_LAYER_SETTING_TYPE_BOOL32_EXT = 0 };

struct VkLayerSettingEXT {
    const char* pLayerName;
    const char* pSettingName;
    VkLayerSettingTypeEXT type;
    std::uint32_t valueCount;
    const void* pValues;
};

struct VkLayerSettingsCreateInfoEXT {
    VkStructureType sType;
    const void* pNext;
    std::uint32_t settingCount;
    const VkLayerSettingEXT* pSettings;
};
#endif
