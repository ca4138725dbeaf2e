// Device memory: blocks from the driver, divided by the arena. The queue runs in order, so a range given back may be
// handed out at once; the stream's hazards see to the rest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "backend/arena.h"
#include "backend/backend.h"
#include "backends/vulkan/device.h"

namespace headscope::vulkan {

// A VkBuffer with memory of its own.
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

// What a Tensor of this backend holds.
class VulkanBuffer final : public Buffer {
public:
    VulkanBuffer(std::shared_ptr<Memory> memory, Place place, std::size_t bytes);
    ~VulkanBuffer() override;
    std::size_t bytes() const override { return bytes_; }
    std::uint32_t block() const { return place_.block; }
    std::uint64_t offset() const { return place_.offset; }

private:
    std::shared_ptr<Memory> memory_;
    Place place_;
    std::size_t bytes_;
};

class Memory : public std::enable_shared_from_this<Memory> {
public:
    explicit Memory(const Device& device);

    // Error when the device has no more. `make_idle` is called before blocks go back to the driver.
    std::shared_ptr<VulkanBuffer> allocate(std::size_t bytes, const std::function<void()>& make_idle);
    void give_back(const Place& place, std::size_t bytes);
    VkBuffer block(std::uint32_t index) const { return blocks_.at(index)->handle(); }
    Backend::MemoryUse use() const { return use_; }

private:
    bool add_block(std::uint64_t bytes);
    void drop_empty_blocks();

    const Device& device_;
    Arena arena_;
    std::vector<std::unique_ptr<RawBuffer>> blocks_;
    Backend::MemoryUse use_;
};

}  // namespace headscope::vulkan
