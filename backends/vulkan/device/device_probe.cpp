// Probes what a physical device can do, and why it cannot be used.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <optional>

#include "backends/vulkan/device/control_flow.h"
#include "backends/vulkan/device/device.h"
#include "backends/vulkan/device/device_features.h"
#include "backends/vulkan/device/listing.h"
#include "backends/vulkan/device/matrix_tiles.h"
#include "backends/vulkan/device/switches.h"
#include "support/check.h"

namespace headscope::vulkan {

namespace {

std::vector<VkExtensionProperties> extensions_of(const InstanceFunctions& functions, VkPhysicalDevice device) {
    return listed<VkExtensionProperties>(
        "vkEnumerateDeviceExtensionProperties", [&](std::uint32_t* count, VkExtensionProperties* found) {
            return functions.vkEnumerateDeviceExtensionProperties(device, nullptr, count, found);
        });
}

// Prefers a queue family for compute only, which does not compete with graphics; else any with compute.
bool find_queue_family(const InstanceFunctions& functions, VkPhysicalDevice device, Capabilities& found) {
    std::uint32_t count = 0;
    functions.vkGetPhysicalDeviceQueueFamilyProperties(device, &count, nullptr);
    std::vector<VkQueueFamilyProperties> families(count);
    functions.vkGetPhysicalDeviceQueueFamilyProperties(device, &count, families.data());
    bool any = false;
    for (std::uint32_t family = 0; family < count; ++family) {
        const VkQueueFlags flags = families[family].queueFlags;
        if ((flags & VK_QUEUE_COMPUTE_BIT) == 0) {
            continue;
        }
        const bool compute_alone = (flags & VK_QUEUE_GRAPHICS_BIT) == 0;
        if (!any || compute_alone) {
            found.queue_family = family;
            found.timestamp_bits = families[family].timestampValidBits;
            any = true;
        }
        if (compute_alone) {
            break;
        }
    }
    return any;
}

void probe_properties(const InstanceFunctions& functions, VkPhysicalDevice device, Capabilities& found,
                      DeviceInfo& info) {
    auto maintenance = chained<VkPhysicalDeviceMaintenance3Properties>(
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_3_PROPERTIES, nullptr);
    auto subgroup = chained<VkPhysicalDeviceSubgroupProperties>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES,
                                                                &maintenance);
    auto driver =
        chained<VkPhysicalDeviceDriverProperties>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES, &subgroup);
    auto floats = chained<VkPhysicalDeviceFloatControlsProperties>(
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FLOAT_CONTROLS_PROPERTIES, &driver);
    auto all = chained<VkPhysicalDeviceProperties2>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, &floats);
    functions.vkGetPhysicalDeviceProperties2(device, &all);
    constexpr VkSubgroupFeatureFlags kNeeded = VK_SUBGROUP_FEATURE_BASIC_BIT | VK_SUBGROUP_FEATURE_ARITHMETIC_BIT;
    constexpr VkSubgroupFeatureFlags kShuffles = VK_SUBGROUP_FEATURE_BASIC_BIT | VK_SUBGROUP_FEATURE_SHUFFLE_BIT;
    const bool in_compute = (subgroup.supportedStages & VK_SHADER_STAGE_COMPUTE_BIT) != 0;
    found.subgroup_arithmetic = in_compute && (subgroup.supportedOperations & kNeeded) == kNeeded;
    found.subgroup_shuffles = in_compute && (subgroup.supportedOperations & kShuffles) == kShuffles;
    found.subgroup_sizes.own = std::max(subgroup.subgroupSize, 1U);
    // 2^31 bytes keep every element's index in a binding, and sums of two, within 32 bits.
    constexpr std::uint64_t kIndexable = std::uint64_t{1} << 31U;
    found.max_binding_bytes = std::min<std::uint64_t>(all.properties.limits.maxStorageBufferRange, kIndexable);
    found.max_allocation_bytes = maintenance.maxMemoryAllocationSize;
    found.float_controls = float_controls_of(floats);
    found.driver = fmt::format("{} {}", driver.driverName, driver.driverInfo);
    info.driver = found.driver;
    found.driver_id = driver.driverID;
}

void probe_features(const InstanceFunctions& functions, VkPhysicalDevice device, const Options& options,
                    Capabilities& found) {
    const std::vector<VkExtensionProperties> extensions = extensions_of(functions, device);
    const bool size_control = contains(extensions, VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME);
    const bool control_flow = contains(extensions, VK_KHR_SHADER_SUBGROUP_UNIFORM_CONTROL_FLOW_EXTENSION_NAME);
    Features features;
    features.chain(size_control, control_flow);
    functions.vkGetPhysicalDeviceFeatures2(device, &features.all);
    found.full_subgroups = size_control && features.subgroup_size.computeFullSubgroups == VK_TRUE;
    found.uniform_control_flow = features.control_flow.shaderSubgroupUniformControlFlow == VK_TRUE;
    found.subgroup_sizes = probe_subgroup_sizes(functions, device, found.subgroup_sizes.own,
                                                size_control && features.subgroup_size.subgroupSizeControl == VK_TRUE);
    found.subgroup_size =
        options.subgroup_size != 0 ? options.subgroup_size : choose_subgroup_size(found.subgroup_sizes);
    found.storage16 = features.storage16.storageBuffer16BitAccess == VK_TRUE;
    found.memory_budget = contains(extensions, VK_EXT_MEMORY_BUDGET_EXTENSION_NAME);
    found.push_descriptors = contains(extensions, VK_KHR_PUSH_DESCRIPTOR_EXTENSION_NAME);
    found.portability = contains(extensions, kPortabilitySubset);
    found.creation_feedback = contains(extensions, VK_EXT_PIPELINE_CREATION_FEEDBACK_EXTENSION_NAME);
    const MatrixCapabilities probed{
        .extension = contains(extensions, VK_KHR_COOPERATIVE_MATRIX_EXTENSION_NAME),
        .bfloat16 = contains(extensions, VK_KHR_SHADER_BFLOAT16_EXTENSION_NAME),
        .subgroups = found.subgroup_arithmetic && found.full_subgroups,
        .rounds_halves = found.float_controls.rounds_halves,
        .dot_products = contains(extensions, VK_KHR_SHADER_INTEGER_DOT_PRODUCT_EXTENSION_NAME),
        .maker = matrix_maker(found),
        .driver = found.driver_id,
        .subgroup_size = found.subgroup_size,
        .limits = found.properties.limits};
    found.matrices = probe_matrices(functions, device, probed);
    found.bf16_matrices = probe_bf16_matrices(functions, device, probed, found.matrices);
}

// Values that violate Vulkan's required limits, or are not powers of two where it guarantees that.
std::string why_invalid(const Capabilities& found) {
    constexpr std::uint32_t kRange = 1U << 27U;
    constexpr std::uint32_t kGroups = 65535;
    constexpr std::uint32_t kPush = 128;
    const VkPhysicalDeviceLimits& limits = found.properties.limits;
    const auto says = [](const std::string& what) {
        return fmt::format("the driver reports values that Vulkan does not allow: {}; update it", what);
    };
    if (limits.maxStorageBufferRange < kRange) {
        return says(fmt::format("storage buffers of {} bytes, fewer than {}", limits.maxStorageBufferRange, kRange));
    }
    if (limits.maxComputeWorkGroupCount[0] < kGroups) {
        return says(
            fmt::format("{} workgroups a dispatch, fewer than {}", limits.maxComputeWorkGroupCount[0], kGroups));
    }
    if (limits.maxPushConstantsSize < kPush) {
        return says(fmt::format("{} bytes of push constants, fewer than {}", limits.maxPushConstantsSize, kPush));
    }
    if (!std::has_single_bit(limits.minStorageBufferOffsetAlignment)) {
        return says(fmt::format("buffers aligned to {} bytes, which is not a power of two",
                                limits.minStorageBufferOffsetAlignment));
    }
    if (found.memory.memoryHeapCount > VK_MAX_MEMORY_HEAPS || found.memory.memoryTypeCount > VK_MAX_MEMORY_TYPES) {
        return says(
            fmt::format("{} heaps and {} types of memory", found.memory.memoryHeapCount, found.memory.memoryTypeCount));
    }
    const std::string subgroups = found.subgroup_sizes.invalid_reason();
    return subgroups.empty() ? "" : says(subgroups);
}

std::string why_rejected(const Capabilities& found, const Options& options, bool compute_queue) {
    constexpr std::uint32_t kBindings = 12;        // the widest kernel
    constexpr std::uint32_t kInvocations = 256;    // the largest workgroup
    constexpr std::uint32_t kSharedBytes = 16384;  // guaranteed by Vulkan
    const VkPhysicalDeviceLimits& limits = found.properties.limits;
    const std::uint32_t version = found.properties.apiVersion;
    if (version < VK_API_VERSION_1_2) {
        return fmt::format("Vulkan {}.{}, and 1.2 is needed: install a newer driver", VK_API_VERSION_MAJOR(version),
                           VK_API_VERSION_MINOR(version));
    }
    if (!compute_queue) {
        return "no compute queue";
    }
    if (limits.maxPerStageDescriptorStorageBuffers < kBindings || limits.maxDescriptorSetStorageBuffers < kBindings) {
        return fmt::format("{} storage buffers a shader, and {} are needed", limits.maxPerStageDescriptorStorageBuffers,
                           kBindings);
    }
    if (limits.maxComputeWorkGroupInvocations < kInvocations || limits.maxComputeWorkGroupSize[0] < kInvocations) {
        return fmt::format("workgroups of {} invocations, and {} are needed", limits.maxComputeWorkGroupInvocations,
                           kInvocations);
    }
    if (limits.maxComputeSharedMemorySize < kSharedBytes) {
        return fmt::format("{} bytes of shared memory, and {} are needed", limits.maxComputeSharedMemorySize,
                           kSharedBytes);
    }
    if (std::string invalid_reason = why_invalid(found); !invalid_reason.empty()) {
        return invalid_reason;
    }
    if (options.subgroup_size != 0 && !found.subgroup_sizes.offers(options.subgroup_size)) {
        return fmt::format("HEADSCOPE_VULKAN_SUBGROUP_SIZE is {}; the device has subgroups of {}",
                           options.subgroup_size, fmt::join(found.subgroup_sizes.all(), ", "));
    }
    return "";
}

std::uint64_t tensor_bytes(const Capabilities& found) {
    const VkPhysicalDeviceMemoryProperties& memory = found.memory;
    std::uint64_t bytes = 0;
    for (std::uint32_t heap = 0; heap < std::min<std::uint32_t>(memory.memoryHeapCount, VK_MAX_MEMORY_HEAPS); ++heap) {
        if (found.holds_tensors(memory.memoryHeaps[heap].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT)) {
            bytes = std::max<std::uint64_t>(bytes, memory.memoryHeaps[heap].size);
        }
    }
    return bytes;
}

std::string matrix_text(const CooperativeMatrices& matrices, bool wanted) {
    const MatrixSizes& sizes = matrices.sizes;
    return !matrices.usable() ? matrices.missing
           : !wanted          ? "switched off"
                              : fmt::format("{} x {} x {}", sizes.m, sizes.n, sizes.k);
}

// Software drivers such as llvmpipe read storage buffers lane by lane under a mask, but texel buffers all lanes at
// once: twice as fast. GPUs gain nothing.
bool has_texel_loads(const Capabilities& found) {
    constexpr std::uint64_t kTexelBytes = 16;
    return found.software && found.subgroup_arithmetic &&
           found.properties.limits.maxTexelBufferElements * kTexelBytes >= found.max_binding_bytes;
}

// Restricts it by the options.
void restrict_to(const Options& options, Capabilities& found) {
    if (options.max_binding_bytes != 0) {
        found.max_binding_bytes = std::min(found.max_binding_bytes, options.max_binding_bytes);
    }
    found.max_groups = found.properties.limits.maxComputeWorkGroupCount[0];
    if (options.max_groups != 0) {
        found.max_groups = std::min(found.max_groups, options.max_groups);
    }
    found.push_descriptors = found.push_descriptors && options.push_descriptors;
    // Modules with subgroups use both.
    found.subgroup_arithmetic = found.subgroup_arithmetic && found.subgroup_shuffles && options.subgroups;
    found.subgroup_shuffles = found.subgroup_shuffles && options.subgroups;
    found.uniform_control_flow =
        found.uniform_control_flow && found.subgroup_arithmetic && options.uniform_control_flow;
    if (found.matrices.usable() && (!options.cooperative_matrix || !found.subgroup_arithmetic)) {
        found.matrices = {{}, "switched off"};
    }
    if (found.bf16_matrices.usable() && (!options.bf16_matrix || !found.matrices.usable())) {
        found.bf16_matrices = {{}, "switched off"};
    }
    found.texel_loads = has_texel_loads(found) && options.texel_loads && options.vector_loads;
    found.storage16 = found.storage16 && options.storage16;
    found.timestamp_bits = options.timestamps ? found.timestamp_bits : 0;
}

// What VulkanBackend::plan_by_matrices decides, apart from a head's size. BF16 is composed of products.
std::string matrix_attention_text(Capabilities found, const Options& options) {
    const bool exist = options.emulated_matrices || found.matrices.usable();
    restrict_to(options, found);
    const std::optional<MatrixDevice> matrices = matrix_device(found, options, false);
    if (attends_by(matrices, options)) {
        return matrices->emulated ? "emulated, in F16" : "yes, in F16";
    }
    return !exist || (matrices && !fit_heads(matrices->sizes)) ? "no" : "switched off";
}

void describe(const Capabilities& found, const Options& options, DeviceInfo& info) {
    const VkPhysicalDeviceLimits& limits = found.properties.limits;
    const std::uint32_t version = found.properties.apiVersion;
    info.limits = {
        {"Vulkan", fmt::format("{}.{}.{}", VK_API_VERSION_MAJOR(version), VK_API_VERSION_MINOR(version),
                               VK_API_VERSION_PATCH(version))},
        {"subgroup size", found.subgroup_sizes.describe(found.subgroup_size)},
        {"largest binding", fmt::format("{} MiB", limits.maxStorageBufferRange >> 20U)},
        {"largest allocation", fmt::format("{} MiB", found.max_allocation_bytes >> 20U)},
        {"workgroups a dispatch", fmt::format("{}", limits.maxComputeWorkGroupCount[0])},
        {"invocations a workgroup", fmt::format("{}", limits.maxComputeWorkGroupInvocations)},
        {"shared memory", fmt::format("{} KiB", limits.maxComputeSharedMemorySize >> 10U)},
    };
    const auto say = [](bool has, bool wanted) { return std::string(!has ? "no" : wanted ? "yes" : "switched off"); };
    info.features = {
        {"push descriptors", say(found.push_descriptors, options.push_descriptors)},
        {"subgroup arithmetic", say(found.subgroup_arithmetic, options.subgroups)},
        {"subgroup shuffles", say(found.subgroup_shuffles, options.subgroups)},
        {"full subgroups", say(found.full_subgroups, true)},
        {kControlFlowFeature, say(found.uniform_control_flow, options.uniform_control_flow && options.subgroups)},
        {"16-bit storage", say(found.storage16, options.storage16)},
        {"NaN and infinities kept", say(found.float_controls.keeps_specials, true)},
        {kHalfFeature, half_conversion(found, options).says},
        {kMatrixFeature, matrix_text(found.matrices, options.cooperative_matrix && options.subgroups)},
        {kMatrixAttentionFeature, matrix_attention_text(found, options)},
        {kBf16MatrixFeature,
         matrix_text(found.bf16_matrices, options.cooperative_matrix && options.bf16_matrix && options.subgroups)},
        {"texel loads", say(has_texel_loads(found), options.texel_loads && options.vector_loads)},
        {"timestamps", say(found.timestamp_bits > 0, options.timestamps)},
        {"memory budget", say(found.memory_budget, true)},
    };
}

// The paths that would choose other kernels, or other ways to launch them, than `found` does.
std::vector<std::string> paths_of(const Capabilities& found, const Options& options) {
    std::vector<std::string> paths;
    for (const Switch& each : switches()) {
        if (each.offered == nullptr || !each.offered(found, options)) {
            continue;
        }
        if (!each.path_takes_value()) {
            paths.emplace_back(each.path);
            continue;
        }
        for (const std::uint32_t size : found.subgroup_sizes.all()) {
            if (size != found.subgroup_size) {
                paths.push_back(each.path + std::to_string(size));
            }
        }
    }
    return paths;
}

// Reads what the driver reports of the device, and judges it.
void examine(const InstanceFunctions& functions, VkPhysicalDevice device, const Options& options, Probe& result) {
    Capabilities& found = result.capabilities;
    DeviceInfo& info = result.info;
    const bool compute_queue = find_queue_family(functions, device, found);
    if (found.properties.apiVersion >= VK_API_VERSION_1_2) {
        auto memory =
            chained<VkPhysicalDeviceMemoryProperties2>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2, nullptr);
        functions.vkGetPhysicalDeviceMemoryProperties2(device, &memory);
        found.memory = memory.memoryProperties;
        info.memory_bytes = tensor_bytes(found);
        probe_properties(functions, device, found, info);
        probe_features(functions, device, options, found);
    }
    info.rejected = why_rejected(found, options, compute_queue);
    describe(found, options, info);
}

}  // namespace

HalfConversion half_conversion(const Capabilities& found, const Options& options) {
    if (!found.storage16 || !options.storage16) {
        return {.says = "no"};
    }
    if (options.half_conversions == HalfConversions::Never) {
        return {.says = "switched off"};
    }
    // llvmpipe is not faster with its own.
    if (found.software && options.half_conversions == HalfConversions::OfGpus) {
        return {};
    }
    return {.own = true, .says = "yes"};
}

Probe probe(const InstanceFunctions& functions, VkPhysicalDevice device, int index, const Options& options) {
    Probe result;
    Capabilities& found = result.capabilities;
    DeviceInfo& info = result.info;
    functions.vkGetPhysicalDeviceProperties(device, &found.properties);
    const VkPhysicalDeviceType type = found.properties.deviceType;
    info.id = fmt::format("vulkan:{}", index);
    info.backend = "vulkan";
    info.name = found.properties.deviceName;
    info.gpu = type == VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU || type == VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU ||
               type == VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU;
    info.software = type == VK_PHYSICAL_DEVICE_TYPE_CPU;
    found.software = info.software;
    try {
        examine(functions, device, options, result);
        restrict_to(options, found);
        info.paths = paths_of(found, options);
    } catch (const Error& error) {  // concerns only this device
        info.rejected = fmt::format("its driver failed to report its properties: {}; update it", error.what());
    }
    return result;
}

}  // namespace headscope::vulkan
