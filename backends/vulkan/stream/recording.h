// Recorded commands and what they keep alive, for one submission or to run repeatedly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "backends/vulkan/device/device.h"
#include "backends/vulkan/stream/pipelines.h"

namespace headscope::vulkan {

// The kernels that ran, for Backend::drain_kernel_names.
struct KernelNotes {
    std::set<std::pair<Kernel, Specialisation>> dispatched;
    std::set<Kernel> moved;  // Fill and Copy done by the queue
};

struct Commands {
    VkCommandBuffer buffer = VK_NULL_HANDLE;
    std::uint64_t kernels = 0;         // that it runs, one bit each
    std::set<std::uint32_t> blocks{};  // numbers of the blocks that it touches
    std::uint32_t dispatches = 0;
    std::uint64_t work = 0;
    std::vector<VkDescriptorPool> pools;  // without push descriptors
    std::size_t pool = 0;
    std::vector<VkBufferView> views;  // of texel buffers
};

// The commands must be done or never submitted.
void destroy_views(const Device& device, Commands& commands);
void destroy_pools(const Device& device, Commands& commands);

// A sequence of ops in secondary command buffers, each as long as a slice of the stream. Whoever launches it keeps it
// alive until it is done.
class Recording {
public:
    // `pool` outlives it.
    Recording(const Device& device, VkCommandPool pool) : device_(device), pool_(pool) {}
    Recording(const Recording&) = delete;
    Recording& operator=(const Recording&) = delete;
    ~Recording();

    // The part being recorded; the first call after end_part() begins one.
    Commands& part();
    void end_part();
    // The finished parts.
    const std::vector<Commands>& parts() const { return parts_; }

    KernelNotes notes;

private:
    const Device& device_;
    VkCommandPool pool_;
    std::vector<Commands> parts_;
    bool open_ = false;
};

}  // namespace headscope::vulkan
