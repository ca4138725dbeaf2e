// The fake's shaders, pipelines and pipeline cache.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstring>
#include <memory>
#include <mutex>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "fake_functions.h"

using namespace headscope::fake;

namespace {

// Drivers lock what threads share.
std::mutex compiling;

// FakeVulkan::modes: mode and width of each OpExecutionMode DenormPreserve .. RoundingModeRTZ.
std::string modes_of(const std::uint32_t* code, const std::uint32_t* end) {
    std::string text;
    for (code += 5; code < end; code += *code >> 16U) {
        if (*code == (4U << 16U | 16U) && code[2] >= 4459U && code[2] <= 4463U) {
            text += text.empty() ? "" : " ";
            text += std::to_string(code[2]) + ":" + std::to_string(code[3]);
        }
    }
    return text;
}

// Whether the module has OpExecutionMode SubgroupUniformControlFlowKHR, and OpExtension before OpMemoryModel.
bool asks_for_flow(const std::uint32_t* code, const std::uint32_t* end) {
    bool declared = false;
    bool done = false;
    bool asks = false;
    for (code += 5; code < end; code += *code >> 16U) {
        const std::uint32_t op = *code & 0xffffU;
        const auto* text = reinterpret_cast<const char*>(code + 1);
        declared = declared || (op == 10U && !done && std::strcmp(text, "SPV_KHR_subgroup_uniform_control_flow") == 0);
        done = done || op == 14U;
        asks = asks || (*code == (3U << 16U | 16U) && code[2] == 4421U);
    }
    return declared && asks;
}

// A shader's handle is the hash of its code.
VKAPI_ATTR VkResult VKAPI_CALL create_shader(VkDevice /*device*/, const VkShaderModuleCreateInfo* info,
                                             const VkAllocationCallbacks* /*allocator*/, VkShaderModule* shader) {
    const std::uint32_t* end = info->pCode + info->codeSize / sizeof(std::uint32_t);
    {
        const std::lock_guard<std::mutex> lock(compiling);
        state.modes.push_back(modes_of(info->pCode, end));
        state.flows.push_back(asks_for_flow(info->pCode, end));
    }
    *shader = handle_of<VkShaderModule>(std::accumulate(
        info->pCode, end, 1U, [](std::uint32_t hash, std::uint32_t word) { return hash * 16777619U ^ word; }));
    return VK_SUCCESS;
}

// The bytes that an application saves: the header, then the shaders of the pipelines.
using Cache = std::vector<std::byte>;

Cache& cache_of(VkPipelineCache handle) {
    return *reinterpret_cast<Cache*>(handle);
}

VKAPI_ATTR VkResult VKAPI_CALL create_cache(VkDevice /*device*/, const VkPipelineCacheCreateInfo* info,
                                            const VkAllocationCallbacks* /*allocator*/, VkPipelineCache* made) {
    const auto* data = static_cast<const std::byte*>(info->pInitialData);
    auto cache = std::make_unique<Cache>(data, data + info->initialDataSize);
    if (cache->empty()) {
        VkPipelineCacheHeaderVersionOne header{};
        header.headerSize = sizeof header;
        header.headerVersion = VK_PIPELINE_CACHE_HEADER_VERSION_ONE;
        cache->resize(sizeof header);
        std::memcpy(cache->data(), &header, sizeof header);
    } else if (state.longer_cache) {
        cache->resize(cache->size() + sizeof(VkPipelineCacheHeaderVersionOne));
    }
    *made = reinterpret_cast<VkPipelineCache>(cache.release());
    return VK_SUCCESS;
}

VKAPI_ATTR void VKAPI_CALL destroy_cache(VkDevice /*device*/, VkPipelineCache handle,
                                         const VkAllocationCallbacks* /*allocator*/) {
    delete &cache_of(handle);
}

VKAPI_ATTR VkResult VKAPI_CALL cache_data(VkDevice /*device*/, VkPipelineCache handle, std::size_t* bytes, void* data) {
    const Cache& cache = cache_of(handle);
    if (data != nullptr) {
        std::memcpy(data, cache.data(), std::min(*bytes, cache.size()));
    }
    *bytes = cache.size();
    return VK_SUCCESS;
}

std::condition_variable another;
int at_once = 0;

VKAPI_ATTR void VKAPI_CALL destroy_pipeline(VkDevice /*device*/, VkPipeline pipeline,
                                            const VkAllocationCallbacks* /*allocator*/) {
    state.pipelines_live -= pipeline == VK_NULL_HANDLE ? 0 : 1;
}

// FakeVulkan::asked: a workgroup's invocations are constant 0.
std::string what_is_asked(const VkPipelineShaderStageCreateInfo& stage) {
    const VkSpecializationInfo& constants = *stage.pSpecializationInfo;
    const auto* entry = std::find_if(constants.pMapEntries, constants.pMapEntries + constants.mapEntryCount,
                                     [](const VkSpecializationMapEntry& each) { return each.constantID == 0; });
    std::uint32_t invocations = 0;
    std::memcpy(&invocations, static_cast<const std::byte*>(constants.pData) + entry->offset, sizeof invocations);
    std::string text = std::to_string(invocations);
    for (const auto* link = static_cast<const VkBaseInStructure*>(stage.pNext); link != nullptr; link = link->pNext) {
        if (link->sType == VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO) {
            const auto* size = reinterpret_cast<const VkPipelineShaderStageRequiredSubgroupSizeCreateInfo*>(link);
            text += " of " + std::to_string(size->requiredSubgroupSize);
        }
    }
    return text + ((stage.flags & VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT) != 0 ? ", full" : "");
}

VKAPI_ATTR VkResult VKAPI_CALL create_pipelines(VkDevice /*device*/, VkPipelineCache handle, std::uint32_t /*count*/,
                                                const VkComputePipelineCreateInfo* info,
                                                const VkAllocationCallbacks* /*allocator*/, VkPipeline* made) {
    std::unique_lock<std::mutex> lock(compiling);
    const int number = ++state.pipelines_begun;
    state.asked.push_back(what_is_asked(info->stage));
    state.most_at_once = std::max(state.most_at_once, ++at_once);
    another.notify_all();
    lock.unlock();
    while (std::atomic_ref<bool>(state.compiles_nothing)) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    lock.lock();
    another.wait_for(lock, std::chrono::seconds(20), [] { return state.pipelines_begun >= state.meet; });
    --at_once;
    if (number == state.fails_to_compile) {
        return state.compiling;
    }
    ++state.pipelines_live;
    Cache& cache = cache_of(handle);
    const auto key = reinterpret_cast<std::uintptr_t>(info->stage.module);
    bool found = false;
    for (std::size_t at = sizeof(VkPipelineCacheHeaderVersionOne); at < cache.size(); at += sizeof key) {
        found = found || std::memcmp(&cache[at], &key, sizeof key) == 0;
    }
    if (!found) {
        const auto* bytes = reinterpret_cast<const std::byte*>(&key);
        cache.insert(cache.end(), bytes, bytes + sizeof key);
    }
    const auto* feedback = static_cast<const VkPipelineCreationFeedbackCreateInfo*>(info->pNext);
    VkPipelineCreationFeedbackFlags& flags = feedback->pPipelineCreationFeedback->flags;
    flags = VK_PIPELINE_CREATION_FEEDBACK_VALID_BIT;
    if (found) {
        flags |= VK_PIPELINE_CREATION_FEEDBACK_APPLICATION_PIPELINE_CACHE_HIT_BIT;
    }
    *made = handle_of<VkPipeline>(1);
    return VK_SUCCESS;
}

}  // namespace

PFN_vkVoidFunction headscope::fake::pipeline_function(const char* name) {
    static const Named kFunctions[] = {
        named("vkCreateShaderModule", create_shader),
        named("vkDestroyShaderModule", destroy_any<VkShaderModule>),
        named("vkCreateDescriptorSetLayout", create_any<VkDescriptorSetLayoutCreateInfo, VkDescriptorSetLayout>),
        named("vkDestroyDescriptorSetLayout", destroy_any<VkDescriptorSetLayout>),
        named("vkCreatePipelineLayout", create_any<VkPipelineLayoutCreateInfo, VkPipelineLayout>),
        named("vkDestroyPipelineLayout", destroy_any<VkPipelineLayout>),
        named("vkCreatePipelineCache", create_cache),
        named("vkDestroyPipelineCache", destroy_cache),
        named("vkGetPipelineCacheData", cache_data),
        named("vkCreateComputePipelines", create_pipelines),
        named("vkDestroyPipeline", destroy_pipeline),
    };
    return find(kFunctions, name);
}
