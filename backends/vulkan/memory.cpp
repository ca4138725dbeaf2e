#include "backends/vulkan/memory.h"

#include <fmt/format.h>

#include <algorithm>

#include "support/check.h"

namespace headscope::vulkan {

namespace {

// Few blocks keep the driver's allocation count small; a larger tensor gets a block of its own.
constexpr std::uint64_t kBlockBytes = std::uint64_t{64} << 20U;

// Every tensor starts where any descriptor may: Vulkan allows drivers to ask for up to 256.
constexpr std::uint64_t kTensorAlignment = 256;

class OutOfDeviceMemory : public Error {
public:
    explicit OutOfDeviceMemory(std::uint64_t bytes)
        : Error(fmt::format("the device has no memory for {} bytes", bytes)) {}
};

}  // namespace

RawBuffer::RawBuffer(const Device& device, std::uint64_t bytes, VkMemoryPropertyFlags preferred,
                     VkMemoryPropertyFlags needed)
    : device_(device) {
    const DeviceFunctions& functions = device.functions();
    VkBufferCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
    info.size = bytes;
    info.usage =
        VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;
    info.usage |= device.capabilities().texel_loads ? VK_BUFFER_USAGE_UNIFORM_TEXEL_BUFFER_BIT : 0;
    const auto try_it = [bytes](VkResult result, const char* call) {
        if (result == VK_ERROR_OUT_OF_DEVICE_MEMORY || result == VK_ERROR_OUT_OF_HOST_MEMORY) {
            throw OutOfDeviceMemory(bytes);
        }
        check(result, call);
    };
    try {
        try_it(functions.vkCreateBuffer(device.handle(), &info, nullptr, &buffer_), "vkCreateBuffer");
        VkMemoryRequirements requirements{};
        functions.vkGetBufferMemoryRequirements(device.handle(), buffer_, &requirements);
        int type = device.find_memory_type(requirements.memoryTypeBits, preferred | needed);
        type = type >= 0 ? type : device.find_memory_type(requirements.memoryTypeBits, needed);
        if (type < 0 || requirements.size > device.capabilities().max_allocation_bytes) {
            throw OutOfDeviceMemory(bytes);
        }
        VkMemoryAllocateInfo allocate{};
        allocate.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO;
        allocate.allocationSize = requirements.size;
        allocate.memoryTypeIndex = static_cast<std::uint32_t>(type);
        try_it(functions.vkAllocateMemory(device.handle(), &allocate, nullptr, &memory_), "vkAllocateMemory");
        try_it(functions.vkBindBufferMemory(device.handle(), buffer_, memory_, 0), "vkBindBufferMemory");
        if ((needed & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT) != 0) {
            void* mapped = nullptr;
            check(functions.vkMapMemory(device.handle(), memory_, 0, VK_WHOLE_SIZE, 0, &mapped), "vkMapMemory");
            mapped_ = static_cast<std::byte*>(mapped);
        }
    } catch (...) {
        release();
        throw;
    }
}

RawBuffer::~RawBuffer() {
    release();
}

void RawBuffer::release() {
    device_.functions().vkDestroyBuffer(device_.handle(), buffer_, nullptr);
    device_.functions().vkFreeMemory(device_.handle(), memory_, nullptr);
}

VulkanBuffer::VulkanBuffer(std::shared_ptr<Memory> memory, Place place, std::size_t bytes)
    : memory_(std::move(memory)), place_(place), bytes_(bytes) {}

VulkanBuffer::~VulkanBuffer() {
    memory_->give_back(place_, bytes_);
}

Memory::Memory(const Device& device)
    : device_(device),
      arena_(std::max(kTensorAlignment, device.capabilities().properties.limits.minStorageBufferOffsetAlignment)) {}

std::shared_ptr<VulkanBuffer> Memory::allocate(std::size_t bytes, const std::function<void()>& make_idle) {
    std::optional<Place> place = arena_.take(bytes);
    if (!place) {
        const std::uint64_t wanted = arena_.rounded(bytes);
        bool added = add_block(std::max(wanted, kBlockBytes));
        if (!added) {
            make_idle();
            drop_empty_blocks();
            added = add_block(wanted);
        }
        if (!added) {
            throw OutOfMemory(fmt::format(
                "out of memory on {} ({}): asked for {:.1f} MiB with {:.1f} MiB in use; use smaller batches or a "
                "smaller model, or --device cpu",
                device_.info().id, device_.info().name, static_cast<double>(bytes) / (1 << 20),
                static_cast<double>(use_.live) / (1 << 20)));
        }
        place = arena_.take(bytes);
    }
    HEADSCOPE_CHECK(place.has_value(), "a new block has no room for what it was made for");
    use_.live += bytes;
    use_.peak = std::max(use_.peak, use_.live);
    return std::make_shared<VulkanBuffer>(shared_from_this(), *place, bytes);
}

void Memory::give_back(const Place& place, std::size_t bytes) {
    arena_.give_back(place);
    use_.live -= bytes;
}

bool Memory::add_block(std::uint64_t bytes) {
    try {
        auto block = std::make_unique<RawBuffer>(device_, bytes, 0, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT);
        const std::uint32_t index = arena_.add_block(bytes);
        if (index == blocks_.size()) {
            blocks_.emplace_back();
        }
        blocks_[index] = std::move(block);
        return true;
    } catch (const OutOfDeviceMemory&) {
        return false;
    }
}

void Memory::drop_empty_blocks() {
    for (const std::uint32_t index : arena_.empty_blocks()) {
        arena_.remove_block(index);
        blocks_[index].reset();
    }
}

}  // namespace headscope::vulkan
