#include "backends/vulkan/device/device.h"

#include <fmt/format.h>

#include <mutex>

#include "backends/vulkan/device/device_features.h"
#include "support/check.h"
#include "support/driver_lock.h"

namespace headscope::vulkan {

Device::Device(std::shared_ptr<const Instance> instance, VkPhysicalDevice physical, Probe probed)
    : instance_(std::move(instance)), physical_(physical), probed_(std::move(probed)) {
    const Capabilities& found = probed_.capabilities;
    const float priority = 1.0F;
    auto queue = chained<VkDeviceQueueCreateInfo>(VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO, nullptr);
    queue.queueFamilyIndex = found.queue_family;
    queue.queueCount = 1;
    queue.pQueuePriorities = &priority;
    std::vector<const char*> extensions;
    if (found.push_descriptors) {
        extensions.push_back(VK_KHR_PUSH_DESCRIPTOR_EXTENSION_NAME);
    }
    const bool size_control = found.full_subgroups || found.subgroup_sizes.can_be_required();
    if (size_control) {
        extensions.push_back(VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME);
    }
    if (found.uniform_control_flow) {
        extensions.push_back(VK_KHR_SHADER_SUBGROUP_UNIFORM_CONTROL_FLOW_EXTENSION_NAME);
    }
    if (found.creation_feedback) {
        extensions.push_back(VK_EXT_PIPELINE_CREATION_FEEDBACK_EXTENSION_NAME);
    }
    if (found.memory_budget) {
        extensions.push_back(VK_EXT_MEMORY_BUDGET_EXTENSION_NAME);
    }
    if (found.portability) {
        extensions.push_back(kPortabilitySubset);
    }
    if (found.matrices.usable()) {
        extensions.push_back(VK_KHR_COOPERATIVE_MATRIX_EXTENSION_NAME);
    }
    if (found.bf16_matrices.usable()) {
        extensions.push_back(VK_KHR_SHADER_BFLOAT16_EXTENSION_NAME);
    }
    Features features;
    features.chain(size_control, found.uniform_control_flow);
    MatrixFeatures matrices;
    if (found.matrices.usable()) {
        features.all.pNext = matrices.chain(features.all.pNext, found.bf16_matrices.usable());
        matrices.enable();
    }
    features.subgroup_size.subgroupSizeControl = found.subgroup_sizes.can_be_required() ? VK_TRUE : VK_FALSE;
    features.subgroup_size.computeFullSubgroups = found.full_subgroups ? VK_TRUE : VK_FALSE;
    features.control_flow.shaderSubgroupUniformControlFlow = found.uniform_control_flow ? VK_TRUE : VK_FALSE;
    features.storage16.storageBuffer16BitAccess = found.storage16 ? VK_TRUE : VK_FALSE;
    // After a view's last texel fours.glsl may read one more. Every device has the feature.
    features.all.features.robustBufferAccess = found.texel_loads ? VK_TRUE : VK_FALSE;
    auto info = chained<VkDeviceCreateInfo>(VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO, &features.all);
    info.queueCreateInfoCount = 1;
    info.pQueueCreateInfos = &queue;
    info.enabledExtensionCount = static_cast<std::uint32_t>(extensions.size());
    info.ppEnabledExtensionNames = extensions.data();
    const std::lock_guard<std::mutex> turn(driver_lock());
    check(instance_->functions().vkCreateDevice(physical, &info, nullptr, &device_), "vkCreateDevice");
    // Loaded before the others, since one of those may be missing.
    functions_.vkDestroyDevice =
        reinterpret_cast<PFN_vkDestroyDevice>(instance_->functions().vkGetDeviceProcAddr(device_, "vkDestroyDevice"));
    try {
        functions_ = load_device_functions(instance_->functions(), device_);
        functions_.vkGetDeviceQueue(device_, found.queue_family, 0, &queue_);
        choose_tensor_memory();
    } catch (...) {
        if (functions_.vkDestroyDevice != nullptr) {
            functions_.vkDestroyDevice(device_, nullptr);
        }
        throw;
    }
}

VkBufferUsageFlags Device::buffer_usage() const {
    VkBufferUsageFlags usage =
        VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;
    usage |= capabilities().texel_loads ? VK_BUFFER_USAGE_UNIFORM_TEXEL_BUFFER_BIT : 0;
    return usage;
}

// Vulkan guarantees that all buffers of one usage support the same memory types, whatever their size.
void Device::choose_tensor_memory() {
    VkBufferCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
    info.size = 256;
    info.usage = buffer_usage();
    VkBuffer buffer = VK_NULL_HANDLE;
    check(functions_.vkCreateBuffer(device_, &info, nullptr, &buffer), "vkCreateBuffer");
    VkMemoryRequirements requirements{};
    functions_.vkGetBufferMemoryRequirements(device_, buffer, &requirements);
    functions_.vkDestroyBuffer(device_, buffer, nullptr);
    const VkPhysicalDeviceMemoryProperties& memory = capabilities().memory;
    std::uint64_t most = 0;
    for (std::uint32_t type = 0; type < memory.memoryTypeCount; ++type) {
        const std::uint64_t bytes = memory.memoryHeaps[memory.memoryTypes[type].heapIndex].size;
        const VkFlags own = memory.memoryTypes[type].propertyFlags & VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
        if (capabilities().holds_tensors(own) && (requirements.memoryTypeBits & (1U << type)) != 0 && bytes > most) {
            tensor_memory_type_ = static_cast<int>(type);
            most = bytes;
        }
    }
    probed_.info.memory_bytes = most;
}

Device::~Device() {
    {
        const std::lock_guard<std::mutex> turn(driver_lock());
        functions_.vkDestroyDevice(device_, nullptr);
    }
    // Objects still alive are reported by the call above. Thrown in a destructor, the error ends the program, as a run
    // under validation should.
    check_validation();
}

void Device::check_validation() const {
    if (!validates()) {
        return;
    }
    const ValidationLog::Messages messages = instance_->validation()->take();
    if (messages.count > 0) {
        throw Error(fmt::format("the Vulkan validation layer reported {} message(s), the first: {}", messages.count,
                                messages.first));
    }
}

Heap Device::heap() const {
    const VkPhysicalDeviceMemoryProperties& memory = probed_.capabilities.memory;
    if (tensor_memory_type_ < 0) {
        return {};
    }
    const std::uint32_t index = memory.memoryTypes[tensor_memory_type_].heapIndex;
    Heap heap{.size = memory.memoryHeaps[index].size, .software = probed_.capabilities.software};
    if (probed_.capabilities.memory_budget) {
        auto budget = chained<VkPhysicalDeviceMemoryBudgetPropertiesEXT>(
            VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT, nullptr);
        auto now =
            chained<VkPhysicalDeviceMemoryProperties2>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2, &budget);
        instance_->functions().vkGetPhysicalDeviceMemoryProperties2(physical_, &now);
        heap.budget = budget.heapBudget[index];
        heap.used = budget.heapUsage[index];
    }
    return heap;
}

int Device::find_memory_type(std::uint32_t allowed, VkMemoryPropertyFlags wanted) const {
    const VkPhysicalDeviceMemoryProperties& memory = probed_.capabilities.memory;
    for (std::uint32_t type = 0; type < memory.memoryTypeCount; ++type) {
        if ((allowed & (1U << type)) != 0 && (memory.memoryTypes[type].propertyFlags & wanted) == wanted) {
            return static_cast<int>(type);
        }
    }
    return -1;
}

}  // namespace headscope::vulkan
