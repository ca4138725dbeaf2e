// What a physical device can do, and the logical device made from it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "backends/vulkan/device/cooperative_matrix.h"
#include "backends/vulkan/device/float_controls.h"
#include "backends/vulkan/device/instance.h"
#include "backends/vulkan/device/memory_limit.h"
#include "backends/vulkan/device/options.h"
#include "backends/vulkan/device/subgroup_sizes.h"

namespace headscope::vulkan {

// Probed, never assumed.
struct Capabilities {
    VkPhysicalDeviceProperties properties{};
    VkPhysicalDeviceMemoryProperties memory{};
    std::string driver;  // name and version, as the driver reports them
    VkDriverId driver_id{};
    std::uint32_t queue_family = 0;
    std::uint32_t timestamp_bits = 0;  // of the queue's clock, 0 without one
    bool software = false;
    bool push_descriptors = false;
    bool subgroup_arithmetic = false;
    bool subgroup_shuffles = false;
    bool full_subgroups = false;        // a workgroup of exactly one subgroup can be required
    bool uniform_control_flow = false;  // with_uniform_control_flow()
    bool storage16 = false;             // 16-bit elements in storage buffers
    bool memory_budget = false;         // the driver reports how much memory is left
    bool portability = false;           // a subset of Vulkan over another API
    FloatControls float_controls;
    CooperativeMatrices matrices;
    CooperativeMatrices bf16_matrices;
    bool texel_loads = false;        // texel buffers are faster to read, and any binding can be one
    bool creation_feedback = false;  // the driver reports whether a pipeline came from the cache
    SubgroupSizes subgroup_sizes;
    std::uint32_t subgroup_size = 1;         // in use
    std::uint64_t max_binding_bytes = 0;     // capped so that 32-bit indices suffice
    std::uint64_t max_allocation_bytes = 0;  // of one VkDeviceMemory
    std::uint32_t max_groups = 0;            // of one dispatch

    // Whether tensors may use memory with these flags: an integrated GPU is as fast in all of the host's memory, of
    // which its driver may report only a small part as device-local.
    bool holds_tensors(VkFlags device_local) const {
        return device_local != 0 || properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU;
    }
    // Whether a workgroup of this size consists of whole subgroups of the size in use.
    bool whole_subgroups(std::uint32_t local_size) const {
        return full_subgroups && subgroup_sizes.fills(subgroup_size, local_size);
    }
};

inline constexpr const char* kHalfFeature = "half conversions";

// Whether the device's conversion is used, and what DeviceInfo::features says about it.
struct HalfConversion {
    bool own = false;
    const char* says = "by bits";
};
HalfConversion half_conversion(const Capabilities& found, const Options& options);

// `rejected` names what is missing or what failed; empty if the device can be used.
struct Probe {
    Capabilities capabilities;
    DeviceInfo info;
};
Probe probe(const InstanceFunctions& functions, VkPhysicalDevice device, int index, const Options& options);

class Device {
public:
    Device(std::shared_ptr<const Instance> instance, VkPhysicalDevice physical, Probe probed);
    Device(const Device&) = delete;
    Device& operator=(const Device&) = delete;
    ~Device();

    VkDevice handle() const { return device_; }
    VkQueue queue() const { return queue_; }
    const DeviceFunctions& functions() const { return functions_; }
    const Capabilities& capabilities() const { return probed_.capabilities; }
    const DeviceInfo& info() const { return probed_.info; }
    bool validates() const { return instance_->validation() != nullptr; }
    // Error if the validation layer has reported anything since the last call.
    void check_validation() const;
    // The usage of every buffer.
    VkBufferUsageFlags buffer_usage() const;
    // The memory type of tensors: of those that buffers may use, the one with the largest heap. -1 if there is none.
    int tensor_memory_type() const { return tensor_memory_type_; }
    // The current state of that type's heap.
    Heap heap() const;
    // The memory type among `allowed` with all of `wanted`, -1 if there is none.
    int find_memory_type(std::uint32_t allowed, VkMemoryPropertyFlags wanted) const;

private:
    void choose_tensor_memory();

    std::shared_ptr<const Instance> instance_;
    VkPhysicalDevice physical_;
    Probe probed_;
    VkDevice device_ = VK_NULL_HANDLE;
    DeviceFunctions functions_;
    VkQueue queue_ = VK_NULL_HANDLE;
    int tensor_memory_type_ = -1;
};

}  // namespace headscope::vulkan
