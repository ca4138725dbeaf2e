// VkInstance, the validation layer where asked for, and the order of the devices.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "backends/vulkan/device/loader.h"
#include "backends/vulkan/device/validation.h"

namespace headscope::vulkan {

class Instance {
public:
    // `validation` turns on the Khronos layer (validation.h). Error when there is no loader, no driver, no such layer,
    // or when the driver fails to list its devices. No device at all is no Error. Made and unmade under driver_lock().
    explicit Instance(bool validation);
    Instance(const Instance&) = delete;
    Instance& operator=(const Instance&) = delete;
    ~Instance();

    const InstanceFunctions& functions() const { return functions_; }
    // Null without validation.
    ValidationLog* validation() const { return validation_.get(); }
    // Discrete GPUs, then integrated, virtual, CPUs; equals in the loader's order.
    const std::vector<VkPhysicalDevice>& devices() const { return devices_; }

private:
    void create(bool validation);
    void find_devices();
    void destroy();

    std::unique_lock<std::mutex> turn_;  // of driver_lock(), while all that follows is made and unmade
    Loader loader_;
    std::unique_ptr<ValidationLog> validation_;
    VkInstance instance_ = VK_NULL_HANDLE;
    InstanceFunctions functions_;
    VkDebugUtilsMessengerEXT messenger_ = VK_NULL_HANDLE;
    std::vector<VkPhysicalDevice> devices_;
};

}  // namespace headscope::vulkan
