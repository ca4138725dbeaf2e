// The stream's descriptors and texel buffer views, which tell kernels their tensors.
#include <array>

#include "backends/vulkan/stream/stream.h"

namespace headscope::vulkan {

namespace {

constexpr std::uint32_t kSetsPerPool = 256;
constexpr std::uint32_t kBuffersPerPool = 2048;

}  // namespace

void Stream::bind(const Pipeline& pipeline, std::span<const VkDescriptorBufferInfo> buffers) {
    const DeviceFunctions& functions = device_.functions();
    const VkCommandBuffer commands = target().buffer;
    std::array<VkWriteDescriptorSet, 12> writes{};
    std::array<VkBufferView, writes.size()> views{};
    const bool push = device_.capabilities().push_descriptors;
    const VkDescriptorSet set = push ? VK_NULL_HANDLE : allocate_set(pipeline.set_layout);
    for (std::size_t index = 0; index < buffers.size(); ++index) {
        writes[index].sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET;
        writes[index].dstSet = set;
        writes[index].dstBinding = static_cast<std::uint32_t>(index);
        writes[index].descriptorCount = 1;
        writes[index].descriptorType = descriptor_type(pipeline.bindings[index]);
        writes[index].pBufferInfo = &buffers[index];
        if (pipeline.bindings[index] == BindingKind::Texels) {
            views[index] = view_of(buffers[index]);
            writes[index].pTexelBufferView = &views[index];
        }
    }
    const auto count = static_cast<std::uint32_t>(buffers.size());
    if (push) {
        functions.vkCmdPushDescriptorSetKHR(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline.layout, 0, count,
                                            writes.data());
    } else {
        functions.vkUpdateDescriptorSets(device_.handle(), count, writes.data(), 0, nullptr);
        functions.vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline.layout, 0, 1, &set, 0,
                                          nullptr);
    }
}

VkBufferView Stream::view_of(const VkDescriptorBufferInfo& buffer) {
    VkBufferViewCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_BUFFER_VIEW_CREATE_INFO;
    info.buffer = buffer.buffer;
    info.format = VK_FORMAT_R32G32B32A32_UINT;
    info.offset = buffer.offset;
    info.range = whole_texels(buffer.range);  // every block ends with a whole texel
    VkBufferView view = VK_NULL_HANDLE;
    check(device_.functions().vkCreateBufferView(device_.handle(), &info, nullptr, &view), "vkCreateBufferView");
    target().views.push_back(view);
    return view;
}

VkDescriptorSet Stream::allocate_set(VkDescriptorSetLayout layout) {
    const DeviceFunctions& functions = device_.functions();
    Commands& commands = target();
    for (;;) {
        const bool fresh = commands.pool == commands.pools.size();
        if (fresh) {
            const std::array sizes{VkDescriptorPoolSize{VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, kBuffersPerPool},
                                   VkDescriptorPoolSize{VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER, kBuffersPerPool}};
            VkDescriptorPoolCreateInfo info{};
            info.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO;
            info.maxSets = kSetsPerPool;
            info.poolSizeCount = device_.capabilities().texel_loads ? 2 : 1;
            info.pPoolSizes = sizes.data();
            VkDescriptorPool pool = VK_NULL_HANDLE;
            check(functions.vkCreateDescriptorPool(device_.handle(), &info, nullptr, &pool), "vkCreateDescriptorPool");
            commands.pools.push_back(pool);
        }
        VkDescriptorSetAllocateInfo info{};
        info.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO;
        info.descriptorPool = commands.pools[commands.pool];
        info.descriptorSetCount = 1;
        info.pSetLayouts = &layout;
        VkDescriptorSet set = VK_NULL_HANDLE;
        const VkResult result = functions.vkAllocateDescriptorSets(device_.handle(), &info, &set);
        if (result == VK_SUCCESS) {
            return set;
        }
        if (fresh || (result != VK_ERROR_OUT_OF_POOL_MEMORY && result != VK_ERROR_FRAGMENTED_POOL)) {
            check(result, "vkAllocateDescriptorSets");
        }
        ++commands.pool;
    }
}

}  // namespace headscope::vulkan
