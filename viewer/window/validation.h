// Collects messages of Vulkan's validation layer for the window.
#pragma once

#include <mutex>
#include <string>

#include <vulkan/vulkan.h>

namespace headscope::viewer {

class Validation {
public:
    // For the pNext chain of VkInstanceCreateInfo; valid as long as this object.
    const VkDebugUtilsMessengerCreateInfoEXT* info() const { return &info_; }
    // Starts collecting messages of this instance.
    void attach(VkInstance instance);
    void detach();
    // Error with the first message since the last check, if any.
    void check();

    Validation();
    Validation(const Validation&) = delete;
    Validation& operator=(const Validation&) = delete;

private:
    static VkBool32 VKAPI_PTR on_message(VkDebugUtilsMessageSeverityFlagBitsEXT severity,
                                         VkDebugUtilsMessageTypeFlagsEXT types,
                                         const VkDebugUtilsMessengerCallbackDataEXT* message, void* self);

    VkDebugUtilsMessengerCreateInfoEXT info_{};
    VkInstance instance_ = VK_NULL_HANDLE;
    VkDebugUtilsMessengerEXT messenger_ = VK_NULL_HANDLE;
    std::mutex mutex_;
    std::string first_;
};

}  // namespace headscope::viewer
