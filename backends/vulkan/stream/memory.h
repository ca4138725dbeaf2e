// Device memory: blocks from the driver, divided by arenas. The queue runs in order, so freed ranges can be reused at
// once; the stream's hazard tracking adds barriers. Allocations while ops are recorded use separate blocks, since a
// recording writes there each time it is launched.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backend/arena.h"
#include "backend/backend.h"
#include "backends/vulkan/device/device.h"

namespace headscope::vulkan {

// A VkBuffer with its own memory.
class RawBuffer {
public:
    RawBuffer(const Device& device, std::uint64_t bytes, VkMemoryPropertyFlags preferred, VkMemoryPropertyFlags needed);
    RawBuffer(const RawBuffer&) = delete;
    RawBuffer& operator=(const RawBuffer&) = delete;
    ~RawBuffer();

    VkBuffer handle() const { return buffer_; }
    // Host-visible buffers only.
    std::byte* mapped() const { return mapped_; }

private:
    void release();
    const Device& device_;
    VkBuffer buffer_ = VK_NULL_HANDLE;
    VkDeviceMemory memory_ = VK_NULL_HANDLE;
    std::byte* mapped_ = nullptr;
};

class Memory;

// The buffer of a Tensor of this backend.
class VulkanBuffer final : public Buffer {
public:
    VulkanBuffer(std::shared_ptr<Memory> memory, Pool pool, ArenaPlace place, std::size_t bytes);
    ~VulkanBuffer() override;
    std::size_t bytes() const override { return bytes_; }
    Address address() const override { return {block(), offset()}; }
    std::uint32_t block() const;  // Memory::block
    std::uint64_t offset() const { return place_.offset; }

private:
    std::shared_ptr<Memory> memory_;
    Pool pool_;
    ArenaPlace place_;
    std::size_t bytes_;
};

class Memory : public std::enable_shared_from_this<Memory> {
public:
    // `most`: bytes to hold, 0 for no limit.
    explicit Memory(const Device& device, std::uint64_t most = 0);

    // Called when memory runs out, before blocks are returned to the driver: waits for the device and drops recordings
    // if possible; true if it did.
    std::function<bool()> make_room;
    // Whether unsubmitted work touches a block, which then stays even if everything in it was freed.
    std::function<bool(std::uint32_t block)> awaited;

    // OutOfMemory if the device has no more, or the limit is reached.
    std::shared_ptr<VulkanBuffer> allocate(std::size_t bytes);
    // Host memory for transfers. May throw OutOfMemory too.
    std::unique_ptr<RawBuffer> allocate_host(std::uint64_t bytes, VkMemoryPropertyFlags preferred);
    // Calls make_room, then returns empty blocks to the driver.
    void free_blocks();
    // Throws OutOfMemory with what was lacking, what is in use (and what `beside`) and what to do.
    [[noreturn]] void fail(const std::string& lack, const std::string& beside = "") const;
    void give_back(Pool pool, const ArenaPlace& place, std::size_t bytes);
    // The pool of later calls of allocate().
    void use(Pool pool) { pool_ = pool; }
    Pool pool() const { return pool_; }
    // Block numbers are unique over all pools.
    static std::uint32_t number(Pool pool, std::uint32_t block) {
        return block * kPools + static_cast<std::uint32_t>(pool);
    }
    VkBuffer block(std::uint32_t number) const {
        return spaces_[number % kPools].blocks.at(number / kPools).buffer->handle();
    }
    Backend::MemoryUse use() const { return use_; }
    std::size_t live(Pool pool) const { return space(pool).live; }
    std::uint64_t held() const;  // in blocks

    // Called when the device is idle: returns empty blocks of Pool::Ops that exceed recent use plus some reserve to the
    // driver. Memory that each step frees and reuses stays. True if a block was returned: its number may be reused.
    bool trim();

private:
    static constexpr std::uint32_t kPools = 2;
    struct Block {
        std::unique_ptr<RawBuffer> buffer;
        std::uint64_t bytes = 0;
    };
    struct Space {
        Arena arena;
        std::vector<Block> blocks{};
        std::size_t live = 0;
        std::uint64_t held = 0;
    };
    Space& space(Pool pool) { return spaces_[static_cast<std::size_t>(pool)]; }
    const Space& space(Pool pool) const { return spaces_[static_cast<std::size_t>(pool)]; }
    bool add_block(Space& space, std::uint64_t bytes);
    bool add_some_block(Space& space, std::uint64_t wanted);
    static void drop_block(Space& space, std::uint32_t index);
    [[noreturn]] void fail_to_allocate(std::size_t bytes) const;

    const Device& device_;
    Pool pool_ = Pool::Ops;
    std::array<Space, kPools> spaces_;
    Backend::MemoryUse use_;
    const std::uint64_t most_;
    std::size_t highest_ = 0;         // peak in Pool::Ops in this period of calls of trim
    std::size_t highest_before_ = 0;  // in the period before
    int calls_ = 0;
};

}  // namespace headscope::vulkan
