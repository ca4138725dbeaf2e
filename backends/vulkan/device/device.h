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
    std::string driver;  // its name and version, in its own words
    VkDriverId driver_id{};
    std::uint32_t queue_family = 0;
    std::uint32_t timestamp_bits = 0;  // of the queue's clock, 0 where it has none
    bool software = false;
    bool push_descriptors = false;
    bool subgroup_arithmetic = false;
    bool subgroup_shuffles = false;
    bool full_subgroups = false;        // a workgroup of one subgroup can be asked for
    bool uniform_control_flow = false;  // with_uniform_control_flow()
    bool storage16 = false;             // 16-bit elements in storage buffers
    bool memory_budget = false;         // the driver says how much memory is left
    bool portability = false;           // Vulkan in part, over another interface
    FloatControls float_controls;
    CooperativeMatrices matrices;
    bool texel_loads = false;        // reading through texel buffers is faster, and any binding can be one
    bool creation_feedback = false;  // whether a pipeline came from the cache is told
    SubgroupSizes subgroup_sizes;
    std::uint32_t subgroup_size = 1;         // in use
    std::uint64_t max_binding_bytes = 0;     // capped so that 32-bit indices do
    std::uint64_t max_allocation_bytes = 0;  // of one VkDeviceMemory
    std::uint32_t max_groups = 0;            // of one dispatch

    // Whether tensors may lie in memory with these flags: a GPU that shares the host's is as fast in all of it, and its
    // driver may call only a small part its own.
    bool holds_tensors(VkFlags device_local) const {
        return device_local != 0 || properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU;
    }
    // Whether a workgroup of so many invocations is made of whole subgroups of the size in use.
    bool whole_subgroups(std::uint32_t local_size) const {
        return full_subgroups && subgroup_sizes.fills(subgroup_size, local_size);
    }
};

inline constexpr const char* kHalfFeature = "half conversions";

// What DeviceInfo::features says of them before a trial, and whether there is to be one.
struct HalfConversion {
    bool own = false;
    const char* says = "by bits";
};
HalfConversion half_conversion(const Capabilities& found, const Options& options);

// `rejected` names what is missing, or what the driver failed at; empty if the device can be used.
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
    // Error if the validation layer has said anything since the last call.
    void check_validation() const;
    // Of every buffer.
    VkBufferUsageFlags buffer_usage() const;
    // Of tensors: of the device's own that buffers may have, the type with the largest heap. -1 if there is none.
    int tensor_memory_type() const { return tensor_memory_type_; }
    // Its heap, as it is now.
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
