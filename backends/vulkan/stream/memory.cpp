#include "backends/vulkan/stream/memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "support/check.h"

namespace headscope::vulkan {

namespace {

// Few blocks mean few driver allocations; a larger tensor gets its own block.
constexpr std::uint64_t kBlockBytes = std::uint64_t{64} << 20U;

// Aligns every tensor for any descriptor: Vulkan allows drivers to require up to 256.
constexpr std::uint64_t kTensorAlignment = 256;

double mebibytes(std::uint64_t bytes) {
    return static_cast<double>(bytes) / (1 << 20);
}

class OutOfDeviceMemory : public Error {
public:
    explicit OutOfDeviceMemory(std::uint64_t bytes)
        : Error(fmt::format("the device has no memory for {} bytes", bytes)) {}
};

int type_of(const Device& device, std::uint32_t allowed, VkMemoryPropertyFlags preferred,
            VkMemoryPropertyFlags needed) {
    if (needed == VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT) {
        return device.tensor_memory_type();
    }
    const int type = device.find_memory_type(allowed, preferred | needed);
    return type >= 0 ? type : device.find_memory_type(allowed, needed);
}

std::uint64_t alignment_of(const Device& device) {
    return std::max(kTensorAlignment, device.capabilities().properties.limits.minStorageBufferOffsetAlignment);
}

}  // namespace

RawBuffer::RawBuffer(const Device& device, std::uint64_t bytes, VkMemoryPropertyFlags preferred,
                     VkMemoryPropertyFlags needed)
    : device_(device) {
    const DeviceFunctions& functions = device.functions();
    VkBufferCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
    info.size = bytes;
    info.usage = device.buffer_usage();
    const auto try_it = [bytes](VkResult result, const char* call) {
        // Freeing blocks reduces the number of allocations and the host's address space, too.
        if (is_out_of_memory(result) || result == VK_ERROR_TOO_MANY_OBJECTS || result == VK_ERROR_MEMORY_MAP_FAILED) {
            throw OutOfDeviceMemory(bytes);
        }
        check(result, call);
    };
    try {
        try_it(functions.vkCreateBuffer(device.handle(), &info, nullptr, &buffer_), "vkCreateBuffer");
        VkMemoryRequirements requirements{};
        functions.vkGetBufferMemoryRequirements(device.handle(), buffer_, &requirements);
        const int type = type_of(device, requirements.memoryTypeBits, preferred, needed);
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
            try_it(functions.vkMapMemory(device.handle(), memory_, 0, VK_WHOLE_SIZE, 0, &mapped), "vkMapMemory");
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

VulkanBuffer::VulkanBuffer(std::shared_ptr<Memory> memory, Pool pool, ArenaPlace place, std::size_t bytes)
    : memory_(std::move(memory)), pool_(pool), place_(place), bytes_(bytes) {}

VulkanBuffer::~VulkanBuffer() {
    memory_->give_back(pool_, place_, bytes_);
}

std::uint32_t VulkanBuffer::block() const {
    return Memory::number(pool_, place_.block);
}

Memory::Memory(const Device& device, std::uint64_t most)
    : device_(device), spaces_{{{Arena(alignment_of(device))}, {Arena(alignment_of(device))}}}, most_(most) {}

std::uint64_t Memory::held() const {
    return space(Pool::Ops).held + space(Pool::Recordings).held;
}

std::shared_ptr<VulkanBuffer> Memory::allocate(std::size_t bytes) {
    Space& from = space(pool_);
    std::optional<ArenaPlace> place = from.arena.take(bytes);
    if (!place) {
        const std::uint64_t wanted = from.arena.rounded(bytes);
        if (!add_some_block(from, wanted)) {
            free_blocks();
            if (!add_some_block(from, wanted)) {
                fail_to_allocate(bytes);
            }
        }
        place = from.arena.take(bytes);
    }
    HEADSCOPE_CHECK(place.has_value(), "a new block has no room for what it was made for");
    from.live += bytes;
    use_.live += bytes;
    use_.peak = std::max(use_.peak, use_.live);
    highest_ = std::max(highest_, live(Pool::Ops));
    return std::make_shared<VulkanBuffer>(shared_from_this(), pool_, *place, bytes);
}

std::unique_ptr<RawBuffer> Memory::allocate_host(std::uint64_t bytes, VkMemoryPropertyFlags preferred) {
    const auto allocated = [&] {
        return std::make_unique<RawBuffer>(device_, bytes, preferred,
                                           VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT);
    };
    try {
        return allocated();
    } catch (const OutOfDeviceMemory&) {
        free_blocks();
    }
    try {
        return allocated();
    } catch (const OutOfDeviceMemory&) {
        fail(fmt::format("the driver has no {:.1f} MiB for transfers", mebibytes(bytes)));
    }
}

void Memory::give_back(Pool pool, const ArenaPlace& place, std::size_t bytes) {
    space(pool).arena.give_back(place);
    space(pool).live -= bytes;
    use_.live -= bytes;
}

void Memory::free_blocks() {
    if (!make_room || !make_room()) {
        return;
    }
    for (const Pool pool : {Pool::Ops, Pool::Recordings}) {
        for (const std::uint32_t index : space(pool).arena.empty_blocks()) {
            if (!awaited || !awaited(number(pool, index))) {
                drop_block(space(pool), index);
            }
        }
    }
}

bool Memory::trim() {
    // About as many calls as steps of decoding a long sentence, so that it ends before its memory is released.
    constexpr int kPeriod = 256;
    Space& ops = space(Pool::Ops);
    if (++calls_ == kPeriod) {
        calls_ = 0;
        highest_before_ = std::exchange(highest_, ops.live);
    }
    const std::uint64_t used = std::max(highest_, highest_before_);
    const std::uint64_t mark = used + used / 2 + kBlockBytes;
    if (ops.held <= mark) {
        return false;
    }
    bool dropped = false;
    for (const std::uint32_t index : ops.arena.empty_blocks()) {
        if (ops.held - ops.blocks[index].bytes >= used && ops.held > mark) {
            drop_block(ops, index);
            dropped = true;
        }
    }
    return dropped;
}

// Adds room for `wanted` bytes, and for more if allowed.
bool Memory::add_some_block(Space& space, std::uint64_t wanted) {
    const MemoryLimit limit = memory_limit(device_.heap(), held(), most_);
    const std::uint64_t room = limit.bytes > held() ? limit.bytes - held() : 0;
    if (wanted > room) {
        return false;
    }
    const std::uint64_t roomy = std::max(wanted, std::min(kBlockBytes, room / kTensorAlignment * kTensorAlignment));
    return add_block(space, roomy) || (roomy > wanted && add_block(space, wanted));
}

bool Memory::add_block(Space& space, std::uint64_t bytes) {
    try {
        auto block = std::make_unique<RawBuffer>(device_, bytes, 0, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT);
        const std::uint32_t index = space.arena.add_block(bytes);
        if (index == space.blocks.size()) {
            space.blocks.emplace_back();
        }
        space.blocks[index] = {std::move(block), bytes};
        space.held += bytes;
        return true;
    } catch (const OutOfDeviceMemory&) {
        return false;
    }
}

void Memory::drop_block(Space& space, std::uint32_t index) {
    space.arena.remove_block(index);
    space.held -= space.blocks[index].bytes;
    space.blocks[index] = {};
}

void Memory::fail_to_allocate(std::size_t bytes) const {
    const MemoryLimit limit = memory_limit(device_.heap(), held(), most_);
    const bool over = limit.bytes < held() + space(pool_).arena.rounded(bytes);
    fail(fmt::format("asked for {:.1f} MiB", mebibytes(bytes)),
         over ? fmt::format(" and {:.1f} MiB held, and may hold {:.1f} MiB ({})", mebibytes(held()),
                            mebibytes(limit.bytes), limit.reason)
              : "");
}

void Memory::fail(const std::string& lack, const std::string& beside) const {
    throw OutOfMemory(
        fmt::format("out of memory on {} ({}): {} with {:.1f} MiB in use{}; use smaller batches or a smaller model, or "
                    "--device cpu",
                    device_.info().id, device_.info().name, lack, mebibytes(use_.live), beside));
}

}  // namespace headscope::vulkan
