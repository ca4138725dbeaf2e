// A Vulkan loader for tests, with configurable devices and failures. It computes nothing and logs what its queue gets.
#pragma once

#include <vulkan/vulkan.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "backends/vulkan/device/vk_cooperative_matrix.h"

namespace headscope {

// Cooperative matrices: everything that the backend needs to use them.
struct FakeMatrices {
    bool extension = true;
    bool full_subgroups = true;
    VkBool32 feature = VK_TRUE;
    VkBool32 float16 = VK_TRUE;
    VkBool32 memory_model = VK_TRUE;
    VkBool32 rounds_to_nearest = VK_TRUE;  // in 16 bits
    VkShaderStageFlags stages = VK_SHADER_STAGE_COMPUTE_BIT;
    std::uint32_t sizes[2][3] = {{8, 8, 16}, {16, 8, 16}};
    VkComponentTypeKHR sum = VK_COMPONENT_TYPE_FLOAT32_KHR;
    VkDriverId driver = VK_DRIVER_ID_MESA_RADV;
    bool dot_products = true;                // VK_KHR_shader_integer_dot_product is listed
    VkBool32 mixed_dot_products = VK_FALSE;  // of four bytes of mixed signs, which RDNA3 has
    bool bfloat16 = true;                    // VK_KHR_shader_bfloat16 is listed
    VkBool32 bfloat16_type = VK_TRUE;
    VkBool32 bfloat16_matrices = VK_TRUE;
    VkComponentTypeKHR bfloat16_sum = VK_COMPONENT_TYPE_FLOAT32_KHR;  // of the larger size
};

// The Khronos validation layer.
struct FakeLayer {
    bool takes_settings = true;  // VK_EXT_layer_settings, as it does since 2024; VK_EXT_validation_features always
    std::vector<std::pair<const char*, const char*>> says = {};  // identifier and text, when a device is created
};

struct FakeVulkan {
    VkResult enumerating = VK_SUCCESS;                       // what vkEnumeratePhysicalDevices returns
    std::uint32_t devices = 0;                               // fake 0 is a CPU, all others are discrete GPUs
    bool crashes = false;                                    // vkEnumeratePhysicalDevices crashes
    void (*bend)(VkPhysicalDeviceLimits& limits) = nullptr;  // changes its limits
    std::uint32_t subgroup_size = 32;
    std::uint32_t least_subgroup = 0;  // that can be required; 0 if none can
    std::uint32_t most_subgroup = 0;
    std::uint32_t most_subgroups = 64;  // of a workgroup, if their size is required
    VkShaderFloatControlsIndependence rounding = VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_ALL;
    VkBool32 keeps_specials = VK_FALSE;      // signed zeros, infinities and NaN, if requested
    bool lists_control_flow = false;         // VK_KHR_shader_subgroup_uniform_control_flow
    VkBool32 control_flow = VK_TRUE;         // its feature
    bool storage16 = false;                  // in buffers
    bool opens = false;                      // whether vkCreateDevice succeeds
    bool longer_cache = false;               // than the data it was given, whatever is compiled
    const FakeMatrices* matrices = nullptr;  // null: none
    const char* lacks = nullptr;             // a function that neither instance nor device has
    int cannot_list = -1;  // the device whose extensions vkEnumerateDeviceExtensionProperties fails to list
    std::uint32_t loader_version = VK_API_VERSION_1_2;
    const FakeLayer* layer = nullptr;  // null: none
    // Requests of the last instance that enabled it: "extension NAME", "setting NAME=VALUE", "feature NUMBER",
    // "messenger" for the messenger during creation of the instance.
    std::vector<std::string> asked_of_layer = {};
    int lists_that_grow = 0;  // this many extension lists are longer at the second call
    int instances_made = 0;
    int instances_live = 0;
    int devices_live = 0;
    int meet = 1;              // pipelines that must begin before the first is done; it waits some seconds for them
    int fails_to_compile = 0;  // counted from 1; none
    VkResult compiling = VK_ERROR_UNKNOWN;  // what that fails with
    int pipelines_begun = 0;
    int most_at_once = 0;  // compiled concurrently
    int pipelines_live = 0;
    std::vector<std::string> modes = {};    // execution modes of each shader: "4461:32 4462:16", in SPIR-V's numbers
    std::vector<bool> flows = {};           // whether each shader requests uniform control flow
    std::vector<std::string> asked = {};    // of each pipeline: "64 of 16, full", or "64" if no size is required
    bool compiles_nothing = false;          // no pipeline is done while it is set (std::atomic_ref)
    std::uint32_t vendor = 0;               // of the devices
    bool integrated = false;                // GPUs are integrated, and only the first heap is device-local
    bool portability = false;               // devices list VK_KHR_portability_subset: the loader hides them
    bool old_loader = false;                // older than 1.3.216: hides none, and lacks the extension to show them
    std::vector<std::string> enabled = {};  // extensions of the last device
    std::uint64_t heaps[2] = {1ULL << 32U, 0};  // bytes of device memory, each with a type of its own
    std::uint32_t buffer_types = ~0U;           // that may hold a buffer
    std::uint32_t types_allocated = 0;          // one bit each
    VkBool32 robust = VK_FALSE;                 // requested robustBufferAccess
    VkBool32 uniform_flow = VK_FALSE;           // and shaderSubgroupUniformControlFlow
    bool matrices_in_bf16 = false;              // and both features of VK_KHR_shader_bfloat16
    std::uint64_t allocated = 0;                // bytes of all allocations
    std::uint64_t most_allocated = ~0ULL;       // the limit of these; more fails:
    VkResult refusal = VK_ERROR_OUT_OF_DEVICE_MEMORY;
    VkResult mapping = VK_SUCCESS;              // what vkMapMemory returns
    std::uint64_t most_resident = ~0ULL;        // bytes of all allocations up to which work can be submitted
    int refusals = 0;                           // this many submissions fail for lack of memory, whatever is allocated
    VkResult submitting = VK_SUCCESS;           // what vkQueueSubmit returns
    VkResult allocating_commands = VK_SUCCESS;  // what vkAllocateCommandBuffers returns
    std::vector<VkResult> beginning = {};       // what vkBeginCommandBuffer returns, one each; then success
    VkResult ending = VK_SUCCESS;               // what vkEndCommandBuffer returns
    VkResult making_pools = VK_SUCCESS;         // what vkCreateDescriptorPool returns
    VkResult allocating_sets = VK_SUCCESS;      // what vkAllocateDescriptorSets returns
    VkResult viewing = VK_SUCCESS;              // what vkCreateBufferView returns
    VkResult waiting = VK_SUCCESS;              // what vkWaitForFences returns
    int commands_live = 0;                      // command buffers
    int command_pools_live = 0;
    bool dawdles = false;  // creating and destroying instances and devices is slow
    int within = 0;        // concurrent calls of these (std::atomic_ref)
    int most_within = 0;
    int fences_live = 0;
    int most_fences = 1000;
    std::vector<int> waited = {};  // submissions, counted from 1, in the order of waits
    bool notes_barriers = false;
    std::vector<std::string> executed = {};  // "dispatch GROUPS", "fill WORD", "copy BYTES", "barrier" where noted
};

}  // namespace headscope

// The library's state, found with dlsym.
extern "C" headscope::FakeVulkan* fake_vulkan();
