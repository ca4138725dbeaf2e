// Vulkan's validation layer for the window.
#pragma once

#include <mutex>
#include <string>

#include <vulkan/vulkan.h>

namespace headscope::viewer {

class Validation {
public:
    // What an instance has to be made with; it lives as long as this.
    const VkDebugUtilsMessengerCreateInfoEXT* info() const { return &info_; }
    // From now on messages of this instance are kept.
    void attach(VkInstance instance);
    void detach();
    // Error with the first message since the last time, if there was one.
    void check();

    Validation();
    Validation(const Validation&) = delete;
    Validation& operator=(const Validation&) = delete;

private:
    static VkBool32 VKAPI_PTR hear(VkDebugUtilsMessageSeverityFlagBitsEXT severity,
                                   VkDebugUtilsMessageTypeFlagsEXT types,
                                   const VkDebugUtilsMessengerCallbackDataEXT* message, void* self);

    VkDebugUtilsMessengerCreateInfoEXT info_{};
    VkInstance instance_ = VK_NULL_HANDLE;
    VkDebugUtilsMessengerEXT messenger_ = VK_NULL_HANDLE;
    std::mutex mutex_;
    std::string first_;
};

}  // namespace headscope::viewer
