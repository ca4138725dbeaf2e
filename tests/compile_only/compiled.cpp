// Records what the driver compiles: a line of JSON for each kernel in the file named by HEADSCOPE_COMPILED, with its
// module, its constants and the driver's statistics (VK_KHR_pipeline_executable_properties).
#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "backends/vulkan/device/spirv.h"
#include "kernels.h"
#include "stand_in.h"
#include "support/check.h"

namespace headscope::compile_only {

namespace {

using vulkan::Kernel;
using vulkan::KernelModule;

std::mutex compiling_mutex;
std::map<VkShaderModule, std::string> modules;

std::ofstream& compiled() {
    static auto* file = new std::ofstream(required_variable("HEADSCOPE_COMPILED"), std::ios::app);
    if (!*file) {
        fail("HEADSCOPE_COMPILED cannot be written");
    }
    return *file;
}

// The module without requests that depend on the device: floating-point behaviour (float_controls.h) and subgroups
// (control_flow.h). No two kernels differ only in their extensions.
std::vector<std::uint32_t> bare(std::span<const std::uint32_t> spirv) {
    constexpr std::uint32_t kPreserveCapability = 4466;
    constexpr std::array kModes{4421U, 4461U, 4462U};  // uniform control flow, specials kept, rounding to nearest
    std::vector<std::uint32_t> words;
    vulkan::for_each_instruction(spirv, [&](const vulkan::Instruction& each) {
        const bool asks = each.op == vulkan::kOpExtension ||
                          (each.op == vulkan::kOpCapability && each.operands[0] == kPreserveCapability) ||
                          (each.op == vulkan::kOpExecutionMode &&
                           std::find(kModes.begin(), kModes.end(), each.operands[1]) != kModes.end());
        if (!asks) {
            words.insert(words.end(), each.words.begin(), each.words.end());
        }
    });
    return words;
}

using Names = std::map<std::vector<std::uint32_t>, std::string>;

// The build's name, such as "matmul_16", of each bare module.
Names names() {
    Names all;
    try {
        for (std::uint8_t index = 0;; ++index) {
            const KernelModule module = vulkan::module_of(static_cast<Kernel>(index));
            const std::pair<std::span<const std::uint32_t>, const char*> forms[] = {
                {module.spirv, ""},
                {module.spirv_shared, "_shared"},
                {module.spirv_texels, "_texels"},
                {module.spirv_16, "_16"},
                {module.spirv_shared_16, "_shared_16"}};
            for (const auto& [known, suffix] : forms) {
                if (!known.empty()) {
                    all.try_emplace(bare(known), module.name + std::string(suffix));
                }
            }
        }
    } catch (const CheckFailure&) {  // there are no more
        return all;
    }
}

std::string name_of(std::span<const std::uint32_t> code) {
    static const Names all = names();
    const auto found = all.find(bare(code));
    if (found == all.end()) {
        fail("a kernel of another build was compiled");
    }
    return found->second;
}

VkResult create_shader(VkDevice device, const VkShaderModuleCreateInfo* info, const VkAllocationCallbacks* allocator,
                       VkShaderModule* to) {
    const VkResult result = own<PFN_vkCreateShaderModule>(device, "vkCreateShaderModule")(device, info, allocator, to);
    if (result == VK_SUCCESS) {
        const std::string name = name_of({info->pCode, info->codeSize / sizeof(std::uint32_t)});
        const std::lock_guard<std::mutex> lock(compiling_mutex);
        modules[*to] = name;
    }
    return result;
}

nlohmann::ordered_json statistics_of(VkDevice device, VkPipeline pipeline) {
    nlohmann::ordered_json found;
    const auto properties =
        own<PFN_vkGetPipelineExecutablePropertiesKHR>(device, "vkGetPipelineExecutablePropertiesKHR");
    const auto statistics =
        own<PFN_vkGetPipelineExecutableStatisticsKHR>(device, "vkGetPipelineExecutableStatisticsKHR");
    const VkPipelineInfoKHR whole{VK_STRUCTURE_TYPE_PIPELINE_INFO_KHR, nullptr, pipeline};
    VkPipelineExecutablePropertiesKHR one{};
    one.sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_PROPERTIES_KHR;
    std::uint32_t count = 1;  // a compute pipeline is one executable
    if (properties(device, &whole, &count, &one) < 0 || count == 0) {
        return found;
    }
    found["Subgroup size"] = one.subgroupSize;
    const VkPipelineExecutableInfoKHR info{VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_INFO_KHR, nullptr, pipeline, 0};
    if (statistics(device, &info, &count, nullptr) != VK_SUCCESS) {
        return found;
    }
    VkPipelineExecutableStatisticKHR empty{};
    empty.sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_STATISTIC_KHR;
    std::vector<VkPipelineExecutableStatisticKHR> values(count, empty);
    statistics(device, &info, &count, values.data());
    for (const VkPipelineExecutableStatisticKHR& each : values) {
        nlohmann::ordered_json& to = found[each.name];
        switch (each.format) {
            case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_BOOL32_KHR: to = each.value.b32 != 0; break;
            case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_INT64_KHR: to = each.value.i64; break;
            case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_FLOAT64_KHR: to = each.value.f64; break;
            default: to = each.value.u64; break;
        }
    }
    return found;
}

VkResult create_pipelines(VkDevice device, VkPipelineCache, std::uint32_t count,
                          const VkComputePipelineCreateInfo* infos, const VkAllocationCallbacks* allocator,
                          VkPipeline* to) {
    if (count != 1) {
        fail("pipelines are compiled one by one");
    }
    VkComputePipelineCreateInfo watched = *infos;
    watched.flags |= VK_PIPELINE_CREATE_CAPTURE_STATISTICS_BIT_KHR;
    // Without a cache, since cached pipelines have no statistics.
    const VkResult result = own<PFN_vkCreateComputePipelines>(device, "vkCreateComputePipelines")(
        device, VK_NULL_HANDLE, 1, &watched, allocator, to);
    nlohmann::ordered_json line;
    {
        const std::lock_guard<std::mutex> lock(compiling_mutex);
        line["module"] = modules[infos->stage.module];
    }
    const VkSpecializationInfo& constants = *infos->stage.pSpecializationInfo;
    for (const VkSpecializationMapEntry& entry : std::span(constants.pMapEntries, constants.mapEntryCount)) {
        std::uint32_t value = 0;
        std::memcpy(&value, static_cast<const std::byte*>(constants.pData) + entry.offset, sizeof value);
        line["constants"][std::to_string(entry.constantID)] = value;
    }
    const auto* size = static_cast<const VkPipelineShaderStageRequiredSubgroupSizeCreateInfo*>(infos->stage.pNext);
    line["asked"] = {{"subgroup", size == nullptr ? 0 : size->requiredSubgroupSize},
                     {"full", (infos->stage.flags & VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT) != 0}};
    line["result"] = static_cast<int>(result);
    if (result == VK_SUCCESS) {
        line["statistics"] = statistics_of(device, *to);
    }
    const std::lock_guard<std::mutex> lock(compiling_mutex);
    compiled() << line.dump() << std::endl;  // flushed, since the next kernel may end the process
    return result;
}

}  // namespace

const std::vector<Replacement>& compiling() {
    static const std::vector<Replacement> kReplaced{{"vkCreateShaderModule", as_any(create_shader)},
                                                    {"vkCreateComputePipelines", as_any(create_pipelines)}};
    return kReplaced;
}

}  // namespace headscope::compile_only
