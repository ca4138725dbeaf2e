#include "backends/vulkan/stream/stream.h"

#include <algorithm>
#include <utility>

#include "backend/backend.h"
#include "support/check.h"

namespace headscope::vulkan {

namespace {

constexpr std::uint32_t kDispatchesPerSlice = 64;

// Enough slices to keep the device busy while the host records the next.
constexpr std::size_t kSlots = 4;

// Descriptors must point at something. An absent operand's points at the first other one that the kernel likewise only
// reads, or writes: it repeats that one's access, which is no hazard of its own.
std::size_t bound_at(std::size_t index, const std::vector<BindingKind>& kinds, std::span<const Tensor* const> tensors) {
    const auto writes = [&](std::size_t other) { return kinds[other] == BindingKind::Written; };
    for (std::size_t other = 0; !tensors[index]->defined() && other < tensors.size(); ++other) {
        if (tensors[other]->defined() && writes(other) == writes(index)) {
            return other;
        }
    }
    return index;
}

// The storage of a kernel's tensors of its op's own type: the 16-bit type if there is any, of which there is only one.
DType storage_of(Kernel kernel, std::span<const Tensor* const> tensors) {
    const auto narrow = std::find_if(tensors.begin(), tensors.end(), [](const Tensor* tensor) {
        return tensor->dtype == DType::F16 || tensor->dtype == DType::BF16;
    });
    if (narrow == tensors.end() || kernel == Kernel::Convert) {  // which gets each tensor's type
        return DType::F32;
    }
    HEADSCOPE_CHECK(!module_of(kernel).spirv_16.empty(),
                    std::string(module_of(kernel).name) + " has no module for " + (*narrow)->to_string());
    return (*narrow)->dtype;
}

}  // namespace

Stream::Stream(const Device& device, std::shared_ptr<Memory> memory, Pipelines& pipelines,
               std::uint64_t lost_at_submission)
    : device_(device),
      memory_(std::move(memory)),
      pipelines_(pipelines),
      timestamps_(device),
      lost_at_submission_(lost_at_submission) {
    try {
        VkCommandPoolCreateInfo pool{};
        pool.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
        pool.flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT;
        pool.queueFamilyIndex = device_.capabilities().queue_family;
        check(device_.functions().vkCreateCommandPool(device_.handle(), &pool, nullptr, &pool_), "vkCreateCommandPool");
        while (slots_.size() < kSlots) {
            add_slot();
        }
    } catch (...) {
        release();
        throw;
    }
}

Stream::~Stream() {
    // A command buffer that was never submitted is dropped. A lost device counts as idle.
    (void)device_.functions().vkDeviceWaitIdle(device_.handle());
    release();
}

void Stream::release() {
    const DeviceFunctions& functions = device_.functions();
    for (Slot& slot : slots_) {
        functions.vkDestroyFence(device_.handle(), slot.fence, nullptr);
        destroy_views(device_, slot.commands);
        destroy_pools(device_, slot.commands);
        slot.launched.clear();
    }
    functions.vkDestroyCommandPool(device_.handle(), pool_, nullptr);
}

std::uint64_t Stream::max_binding_bytes() const {
    // The start is aligned down, which can add up to one alignment.
    return device_.capabilities().max_binding_bytes - binding_alignment();
}

std::uint64_t Stream::binding_alignment() const {
    // At least a vec4: then a tensor's offset in its binding is a multiple of 4 if its own offset is.
    const VkPhysicalDeviceLimits& limits = device_.capabilities().properties.limits;
    const VkDeviceSize texels = device_.capabilities().texel_loads ? limits.minTexelBufferOffsetAlignment : 1;
    return std::max({limits.minStorageBufferOffsetAlignment, texels, VkDeviceSize{kTexelBytes}});
}

void Stream::guard(std::span<const Access> accesses) {
    // A long list of accesses without conflicts would cost more to search than a barrier.
    constexpr std::size_t kMostPending = 256;
    if (hazards_.conflict(accesses) || hazards_.size() > kMostPending) {
        barrier();
        hazards_.clear();
    }
    hazards_.add(accesses);
}

Commands& Stream::touching(std::span<const Access> accesses) {
    Commands& commands = target();
    for (const Access& access : accesses) {
        commands.blocks.insert(access.block);
    }
    return commands;
}

void Stream::barrier() {
    VkMemoryBarrier all{};
    all.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER;
    all.srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT;
    all.dstAccessMask = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_READ_BIT |
                        VK_ACCESS_TRANSFER_WRITE_BIT;
    constexpr VkPipelineStageFlags kStages = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT;
    device_.functions().vkCmdPipelineBarrier(target().buffer, kStages, kStages, 0, 1, &all, 0, nullptr, 0, nullptr);
}

void Stream::enqueue(const Launch& launch, std::span<const std::uint32_t> params,
                     std::span<const Tensor* const> tensors) {
    HEADSCOPE_CHECK(tensors.size() <= Pending::kMostBindings, "a kernel has at most 12 bindings");
    Specialisation specialisation = launch.specialisation;
    specialisation.storage = storage_of(launch.kernel, tensors);
    specialisation.converts_halves = pipelines_.converts_halves(launch.kernel, specialisation.storage);
    specialisation.texels = specialisation.texels && specialisation.storage == DType::F32;
    const Pipeline& pipeline = pipelines_.get(launch.kernel, specialisation);
    HEADSCOPE_CHECK(pipeline.bindings.size() == tensors.size(),
                    std::string("the number of bindings differs from the shader's: ") + module_of(launch.kernel).name);
    if (KernelNotes* taken = notes(); taken != nullptr) {
        taken->dispatched.emplace(launch.kernel, specialisation);
    }
    Pending pending;
    pending.pipeline = &pipeline;
    pending.kernel = launch.kernel;
    pending.groups = launch.groups;
    pending.work_per_group = std::max<std::uint64_t>(launch.work_per_group, 1);
    pending.words = params.size();
    std::copy(params.begin(), params.end(), pending.params.begin());
    const std::uint64_t alignment = binding_alignment();
    for (std::size_t index = 0; index < tensors.size(); ++index) {
        const std::size_t source = bound_at(index, pipeline.bindings, tensors);
        const Tensor& tensor = *tensors[source];
        const Binding binding = binding_of(tensor, alignment);
        HEADSCOPE_CHECK(binding.bytes <= device_.capabilities().max_binding_bytes,
                        std::string(module_of(launch.kernel).name) + " was not tiled: " + tensor.to_string());
        // Texels are read whole.
        const BindingKind kind = pipeline.bindings[source];
        const std::uint64_t end =
            binding.begin + (kind == BindingKind::Texels ? whole_texels(binding.bytes) : binding.bytes);
        pending.add(memory_->block(binding.block), binding,
                    {binding.block, binding.begin, end, kind == BindingKind::Written});
        pending.params[1 + index] = binding.offset;
    }
    add(pending);
}

void Stream::Pending::add(VkBuffer buffer, const Binding& binding, const Access& access) {
    buffers[bindings] = {buffer, binding.begin, binding.bytes};
    accesses[bindings] = access;
    ++bindings;
}

void Stream::add(Pending& pending) {
    // Enough to request all pipelines of a step before waiting for the first, but no more.
    constexpr std::size_t kMostPending = 512;
    asked_.dispatches += 1;
    asked_.work += pending.groups * pending.work_per_group;
    record_ready();
    if (recording()) {
        record_now(pending);  // waits for its pipeline; errors here precede its execution
        return;
    }
    if (pending_.empty() && pending.ready()) {
        keep_failure([&] { record_now(pending); });
        return;
    }
    pending_.push_back(pending);
    if (pending_.size() > kMostPending) {
        record_all();
    }
}

void Stream::record_ready() {
    require_whole();
    while (!pending_.empty() && pending_.front().ready()) {
        Pending pending = pending_.front();
        pending_.pop_front();
        keep_failure([&] { record_now(pending); });
    }
}

void Stream::record_all() {
    record_ready();
    while (!pending_.empty()) {
        submit();  // the device need not wait either
        pending_.front().pipeline->compiled.wait();
        record_ready();
    }
}

void Stream::record_now(Pending& pending) {
    if (pending.pipeline == nullptr) {
        record_transfer(pending);
        return;
    }
    const VkPipeline pipeline = pending.pipeline->handle();
    const std::uint64_t most_groups = std::min<std::uint64_t>(
        device_.capabilities().max_groups, std::max<std::uint64_t>(slice_.work() / pending.work_per_group, 1));
    const DeviceFunctions& functions = device_.functions();
    // The parts of one launch do not wait for each other, nor do its workgroups. Only under validation they get
    // barriers, because the layer cannot know that each part writes (and in place reads) only its own elements.
    const std::span<const Access> accesses(pending.accesses.data(), pending.bindings);
    for (std::uint64_t first = 0; first < pending.groups; first += most_groups) {
        if (first == 0 || device_.validates()) {
            guard(accesses);
        }
        const std::uint64_t groups = std::min(most_groups, pending.groups - first);
        pending.params[0] = static_cast<std::uint32_t>(first);
        const VkCommandBuffer commands = touching(accesses).buffer;
        functions.vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
        bind(*pending.pipeline, {pending.buffers.data(), pending.bindings});
        functions.vkCmdPushConstants(commands, pending.pipeline->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0,
                                     static_cast<std::uint32_t>(pending.words * sizeof(std::uint32_t)),
                                     pending.params.data());
        functions.vkCmdDispatch(commands, static_cast<std::uint32_t>(groups), 1, 1);
        target().kernels |= bit_of(pending.kernel);
        count(1, groups * pending.work_per_group);
    }
}

void Stream::count(std::uint32_t dispatches, std::uint64_t work) {
    Commands& commands = target();
    commands.dispatches += dispatches;
    commands.work += work;
    if (commands.dispatches < kDispatchesPerSlice && commands.work < slice_.work()) {
        return;
    }
    if (recording()) {
        recording_->end_part();
    } else {
        submit();
    }
}

bool Stream::short_dispatches(const Load& load) const {
    return load.work < slice_.work() / kDispatchesPerSlice * load.dispatches;
}

}  // namespace headscope::vulkan
