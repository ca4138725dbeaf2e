#include "backends/vulkan/stream/pipelines.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <exception>
#include <memory>

#include "backends/vulkan/device/cache_file.h"
#include "backends/vulkan/device/control_flow.h"
#include "backends/vulkan/device/device_features.h"
#include "backends/vulkan/stream/pipeline_cache.h"
#include "support/check.h"

namespace headscope::vulkan {

namespace {

VkShaderModule create_shader(const Device& device, std::span<const std::uint32_t> spirv) {
    VkShaderModuleCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO;
    info.codeSize = spirv.size_bytes();
    info.pCode = spirv.data();
    VkShaderModule shader = VK_NULL_HANDLE;
    check(device.functions().vkCreateShaderModule(device.handle(), &info, nullptr, &shader), "vkCreateShaderModule");
    return shader;
}

}  // namespace

VkDescriptorType descriptor_type(BindingKind kind) {
    return kind == BindingKind::Texels ? VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER : VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
}

Pipelines::Pipelines(const Device& device, const std::string& cache_directory, unsigned threads)
    : device_(device),
      cache_path_(cache_file_path(device.capabilities(), cache_directory, "pipelines")),
      workers_(std::make_unique<PipelineWorkers>(threads)) {
    std::vector<std::byte> data;
    if (!cache_path_.empty()) {
        data = read_pipeline_cache(cache_path_);
    }
    if (!is_cache_of(device.capabilities().properties, data)) {
        data.clear();
    }
    use_.loaded_bytes = data.size();
    VkPipelineCacheCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO;
    info.initialDataSize = data.size();
    info.pInitialData = data.data();
    check(device_.functions().vkCreatePipelineCache(device_.handle(), &info, nullptr, &cache_),
          "vkCreatePipelineCache");
    use_.held_bytes = held_bytes();
}

Pipelines::~Pipelines() {
    const DeviceFunctions& functions = device_.functions();
    workers_.reset();
    save();
    for (const auto& [key, pipeline] : pipelines_) {
        try {
            // Skips pipelines that were not compiled.
            functions.vkDestroyPipeline(device_.handle(), pipeline.handle(), nullptr);
        } catch (const std::exception&) {
            continue;
        }
    }
    for (const auto& [bindings, layout] : layouts_) {
        functions.vkDestroyPipelineLayout(device_.handle(), layout.pipeline, nullptr);
        functions.vkDestroyDescriptorSetLayout(device_.handle(), layout.set, nullptr);
    }
    functions.vkDestroyPipelineCache(device_.handle(), cache_, nullptr);
}

std::size_t Pipelines::held_bytes() const {
    std::size_t bytes = 0;
    const VkResult result = device_.functions().vkGetPipelineCacheData(device_.handle(), cache_, &bytes, nullptr);
    return result == VK_SUCCESS ? bytes : 0;
}

void Pipelines::save() const {
    std::size_t bytes = held_bytes();
    // Compared with the size at the start, not with the file's: SwiftShader's cache grows each time without new
    // content.
    const bool same = use_.loaded_bytes != 0 && bytes == use_.held_bytes;
    if (cache_path_.empty() || bytes == 0 || same) {
        return;
    }
    std::vector<std::byte> data(bytes);
    if (device_.functions().vkGetPipelineCacheData(device_.handle(), cache_, &bytes, data.data()) == VK_SUCCESS) {
        data.resize(bytes);
        // If the cache cannot be written, only the next start is slower.
        (void)write_pipeline_cache(cache_path_, data);
    }
}

const Pipeline& Pipelines::get(Kernel kernel, const Specialisation& specialisation) {
    const auto key = std::make_pair(kernel, specialisation);
    const auto found = pipelines_.find(key);
    if (found != pipelines_.end()) {
        return found->second;
    }
    return pipelines_.emplace(key, create(kernel, specialisation)).first->second;
}

CacheUse Pipelines::cache_use() const {
    for (const auto& [key, pipeline] : pipelines_) {
        pipeline.compiled.wait();
    }
    const std::lock_guard<std::mutex> lock(use_mutex_);
    return use_;
}

const Pipelines::Layout& Pipelines::layout_for(const std::vector<BindingKind>& bindings) {
    Layout& layout = layouts_[bindings];
    if (layout.pipeline != VK_NULL_HANDLE) {
        return layout;
    }
    std::vector<VkDescriptorSetLayoutBinding> slots(bindings.size());
    for (std::size_t slot = 0; slot < bindings.size(); ++slot) {
        slots[slot].binding = static_cast<std::uint32_t>(slot);
        slots[slot].descriptorType = descriptor_type(bindings[slot]);
        slots[slot].descriptorCount = 1;
        slots[slot].stageFlags = VK_SHADER_STAGE_COMPUTE_BIT;
    }
    VkDescriptorSetLayoutCreateInfo set{};
    set.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO;
    set.flags = device_.capabilities().push_descriptors ? VK_DESCRIPTOR_SET_LAYOUT_CREATE_PUSH_DESCRIPTOR_BIT_KHR : 0;
    set.bindingCount = static_cast<std::uint32_t>(slots.size());
    set.pBindings = slots.data();
    const DeviceFunctions& functions = device_.functions();
    check(functions.vkCreateDescriptorSetLayout(device_.handle(), &set, nullptr, &layout.set),
          "vkCreateDescriptorSetLayout");
    const VkPushConstantRange range{VK_SHADER_STAGE_COMPUTE_BIT, 0, kPushBytes};
    VkPipelineLayoutCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO;
    info.setLayoutCount = 1;
    info.pSetLayouts = &layout.set;
    info.pushConstantRangeCount = 1;
    info.pPushConstantRanges = &range;
    check(functions.vkCreatePipelineLayout(device_.handle(), &info, nullptr, &layout.pipeline),
          "vkCreatePipelineLayout");
    return layout;
}

Pipeline Pipelines::create(Kernel kernel, const Specialisation& specialisation) {
    Pipeline pipeline;
    pipeline.bindings = bindings_of(spirv_of(kernel, specialisation));
    const Layout& layout = layout_for(pipeline.bindings);
    pipeline.layout = layout.pipeline;
    pipeline.set_layout = layout.set;
    const auto task = std::make_shared<std::packaged_task<VkPipeline()>>(
        [this, kernel, specialisation, layout] { return build(kernel, specialisation, layout.pipeline); });
    pipeline.compiled = task->get_future().share();
    workers_->add([task] { (*task)(); });
    return pipeline;
}

std::span<const std::uint32_t> Pipelines::spirv_of(Kernel kernel, const Specialisation& specialisation) const {
    const KernelModule module = module_of(kernel);
    if (specialisation.texels) {
        return module.spirv_texels;
    }
    const bool narrow = specialisation.storage != DType::F32;
    return device_.capabilities().subgroup_arithmetic ? (narrow ? module.spirv_16 : module.spirv)
                                                      : (narrow ? module.spirv_shared_16 : module.spirv_shared);
}

VkPipeline Pipelines::build(Kernel kernel, const Specialisation& specialisation, VkPipelineLayout layout) {
    const Capabilities& found = device_.capabilities();
    const DeviceFunctions& functions = device_.functions();
    const std::span<const std::uint32_t> spirv = spirv_of(kernel, specialisation);
    const bool subgroups = uses_subgroups(spirv);
    std::vector<std::uint32_t> module = with_float_controls(spirv, found.float_controls);
    if (subgroups && found.uniform_control_flow) {
        module = with_uniform_control_flow(module);
    }
    const VkShaderModule shader = create_shader(device_, module);
    // For kernels without subgroup operations the driver chooses: a required size might be twice what its registers
    // hold.
    const bool asks = subgroups && found.subgroup_sizes.fits(found.subgroup_size, specialisation.local_size);
    // A workgroup of a subgroup's size is exactly one subgroup only if the driver guarantees full subgroups.
    const bool whole = subgroups && found.whole_subgroups(specialisation.local_size);
    auto size = chained<VkPipelineShaderStageRequiredSubgroupSizeCreateInfo>(
        VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO, nullptr);
    size.requiredSubgroupSize = found.subgroup_size;
    const std::array common{std::pair{constant_local_size, specialisation.local_size},
                            std::pair{constant_one_subgroup,
                                      whole && specialisation.local_size == found.subgroup_size ? VK_TRUE : VK_FALSE},
                            std::pair{constant_bf16, specialisation.storage == DType::BF16 ? VK_TRUE : VK_FALSE},
                            std::pair{constant_converts_halves, specialisation.converts_halves ? VK_TRUE : VK_FALSE}};
    std::vector<std::uint32_t> values(specialisation.constants.begin(), specialisation.constants.end());
    std::vector<VkSpecializationMapEntry> entries;
    const auto add_entry = [&](std::uint32_t id, std::size_t index) {
        entries.push_back({id, static_cast<std::uint32_t>(index * sizeof values[0]), sizeof values[0]});
    };
    for (std::size_t index = 0; index < specialisation.constants.size(); ++index) {
        add_entry(static_cast<std::uint32_t>(kFirstConstant + index), index);
    }
    for (const auto& [id, value] : common) {
        add_entry(id, values.size());
        values.push_back(value);
    }
    const VkSpecializationInfo special{static_cast<std::uint32_t>(entries.size()), entries.data(),
                                       values.size() * sizeof values[0], values.data()};
    VkComputePipelineCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO;
    info.layout = layout;
    info.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
    info.stage.pNext = asks ? &size : nullptr;
    info.stage.flags = whole ? VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT : 0;
    info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
    info.stage.module = shader;
    info.stage.pName = "main";
    info.stage.pSpecializationInfo = &special;
    VkPipeline pipeline = VK_NULL_HANDLE;
    try {
        pipeline = compile(info, module_of(kernel).name);
    } catch (...) {
        functions.vkDestroyShaderModule(device_.handle(), shader, nullptr);
        throw;
    }
    functions.vkDestroyShaderModule(device_.handle(), shader, nullptr);
    return pipeline;
}

std::string Pipelines::title(Kernel kernel, const Specialisation& specialisation) const {
    const KernelModule module = module_of(kernel);
    std::string text = fmt::format("{}, {} lanes", module.name, specialisation.local_size);
    std::size_t used = specialisation.constants.size();
    while (used > 0 && specialisation.constants[used - 1] == 0) {
        --used;
    }
    if (used > 0) {
        text += fmt::format(", constants {}",
                            fmt::join(specialisation.constants.begin(),
                                      specialisation.constants.begin() + static_cast<std::ptrdiff_t>(used), " "));
    }
    text += specialisation.texels ? ", reads texels" : "";
    if (specialisation.storage != DType::F32) {
        text += fmt::format(", {}", headscope::name_of(specialisation.storage));
    }
    text += specialisation.converts_halves ? ", by its own conversion" : "";
    const Capabilities& found = device_.capabilities();
    const bool reduces = module.spirv.data() != module.spirv_shared.data();
    text += !reduces ? "" : found.subgroup_arithmetic ? ", reduces by subgroups" : ", reduces through shared memory";
    const bool whole = found.max_groups == found.properties.limits.maxComputeWorkGroupCount[0];
    return text + (found.push_descriptors ? "" : ", sets from pools") + (whole ? "" : ", in small parts");
}

VkPipeline Pipelines::compile(const VkComputePipelineCreateInfo& info, const char* kernel) {
    VkPipelineCreationFeedback whole{};
    VkPipelineCreationFeedback stage{};
    VkPipelineCreationFeedbackCreateInfo feedback{};
    feedback.sType = VK_STRUCTURE_TYPE_PIPELINE_CREATION_FEEDBACK_CREATE_INFO;
    feedback.pPipelineCreationFeedback = &whole;
    feedback.pipelineStageCreationFeedbackCount = 1;
    feedback.pPipelineStageCreationFeedbacks = &stage;
    VkComputePipelineCreateInfo watched = info;
    watched.pNext = device_.capabilities().creation_feedback ? &feedback : nullptr;
    VkPipeline pipeline = VK_NULL_HANDLE;
    const VkResult result =
        device_.functions().vkCreateComputePipelines(device_.handle(), cache_, 1, &watched, nullptr, &pipeline);
    if (is_out_of_memory(result)) {
        throw DriverOutOfMemory(
            fmt::format("vkCreateComputePipelines failed with {} for the kernel {}", name_of(result), kernel));
    }
    if (result != VK_SUCCESS) {
        throw CannotCompile(std::string("the driver cannot compile the kernel ") + kernel + ": " + name_of(result));
    }
    constexpr VkPipelineCreationFeedbackFlags kFound =
        VK_PIPELINE_CREATION_FEEDBACK_VALID_BIT | VK_PIPELINE_CREATION_FEEDBACK_APPLICATION_PIPELINE_CACHE_HIT_BIT;
    const std::lock_guard<std::mutex> lock(use_mutex_);
    ++use_.created;
    use_.found += (whole.flags & kFound) == kFound ? 1 : 0;
    return pipeline;
}

}  // namespace headscope::vulkan
