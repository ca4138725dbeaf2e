// The window's own VkDevice, with one queue for graphics and presenting. It is separate from the backend that runs the
// model, so that computation never blocks a frame.
#pragma once

#include <cstdint>
#include <string>

#include <vulkan/vulkan.h>

#include "viewer/window/validation.h"

struct GLFWwindow;

namespace headscope::viewer {

// Throws an Error with the call and the result unless it is VK_SUCCESS.
void check_vulkan(VkResult result, const char* call);

class Gpu {
public:
    // Opens the first device that can draw into `window`, real GPUs before software ones. Error lists why each device
    // was rejected. `validate`: enable the validation layer.
    Gpu(GLFWwindow* window, bool validate);
    Gpu(const Gpu&) = delete;
    Gpu& operator=(const Gpu&) = delete;
    ~Gpu();

    VkInstance instance() const { return instance_; }
    VkPhysicalDevice physical() const { return physical_; }
    VkDevice device() const { return device_; }
    VkSurfaceKHR surface() const { return surface_; }
    std::uint32_t family() const { return family_; }
    VkQueue queue() const { return queue_; }
    const std::string& name() const { return name_; }

    // Error if the validation layer is on and has reported a message.
    void check_validation() { validation_.check(); }

    // The index of a memory type with these properties among the allowed `bits`; Error if there is none.
    std::uint32_t memory_type(std::uint32_t bits, VkMemoryPropertyFlags wanted) const;

private:
    void create_instance(bool validate);
    void choose_device();
    void create_device();
    void destroy();

    Validation validation_;
    VkInstance instance_ = VK_NULL_HANDLE;
    VkSurfaceKHR surface_ = VK_NULL_HANDLE;
    VkPhysicalDevice physical_ = VK_NULL_HANDLE;
    VkDevice device_ = VK_NULL_HANDLE;
    std::uint32_t family_ = 0;
    VkQueue queue_ = VK_NULL_HANDLE;
    std::string name_;
};

}  // namespace headscope::viewer
