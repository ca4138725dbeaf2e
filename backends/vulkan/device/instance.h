// VkInstance, the validation layer if requested, and the order of devices.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "backends/vulkan/device/loader.h"
#include "backends/vulkan/device/validation.h"

namespace headscope::vulkan {

class Instance {
public:
    // `validation` enables the Khronos layer (validation.h). Error if there is no loader, no driver or no such layer,
    // or if the driver fails to list its devices. Finding no device is not an Error. Created and destroyed under
    // driver_lock().
    explicit Instance(bool validation);
    Instance(const Instance&) = delete;
    Instance& operator=(const Instance&) = delete;
    ~Instance();

    const InstanceFunctions& functions() const { return functions_; }
    // Null without validation.
    ValidationLog* validation() const { return validation_.get(); }
    // Discrete GPUs, then integrated, virtual, CPUs; otherwise in the loader's order.
    const std::vector<VkPhysicalDevice>& devices() const { return devices_; }

private:
    void create(bool validation);
    void find_devices();
    void destroy();

    std::unique_lock<std::mutex> turn_;  // of driver_lock(), held while the members below are created and destroyed
    Loader loader_;
    std::unique_ptr<ValidationLog> validation_;
    VkInstance instance_ = VK_NULL_HANDLE;
    InstanceFunctions functions_;
    VkDebugUtilsMessengerEXT messenger_ = VK_NULL_HANDLE;
    std::vector<VkPhysicalDevice> devices_;
    bool is_nvidia_ = false;  // one of the devices
};

}  // namespace headscope::vulkan
