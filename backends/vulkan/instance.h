// VkInstance, the validation layer where asked for, and the order of the devices.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "backends/vulkan/loader.h"

namespace headscope::vulkan {

// Messages of the validation layer, which may come from any of the driver's threads.
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

class Instance {
public:
    // `validation` turns on the Khronos layer with its core and synchronisation checks. Error when there is no loader,
    // no driver, no such layer, or when the driver fails to list its devices. No device at all is no Error.
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

    Loader loader_;
    std::unique_ptr<ValidationLog> validation_;
    VkInstance instance_ = VK_NULL_HANDLE;
    InstanceFunctions functions_;
    VkDebugUtilsMessengerEXT messenger_ = VK_NULL_HANDLE;
    std::vector<VkPhysicalDevice> devices_;
};

}  // namespace headscope::vulkan
