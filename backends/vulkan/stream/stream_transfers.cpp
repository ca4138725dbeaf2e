// The stream's transfers: fills and copies, which queue behind work that waits for its pipeline, and uploads and
// downloads, which wait for all earlier work.
#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <utility>

#include "backends/vulkan/stream/stream.h"
#include "support/check.h"

namespace headscope::vulkan {

namespace {

constexpr std::size_t kStagingBytes = std::size_t{4} << 20U;

// Identifies the download buffer in hazards: no memory block has this number.
constexpr std::uint32_t kDownloadBlock = std::numeric_limits<std::uint32_t>::max();

}  // namespace

void Stream::fill(const Tensor& to, std::uint32_t word) {
    transfer(Kernel::Fill, word, std::array{&to});
}

void Stream::copy(const Tensor& from, const Tensor& to) {
    transfer(Kernel::Copy, 0, std::array{&from, &to});
}

void Stream::transfer(Kernel kernel, std::uint32_t word, std::span<const Tensor* const> tensors) {
    if (KernelNotes* taken = notes(); taken != nullptr) {
        taken->moved.insert(kernel);
    }
    Pending pending;
    pending.kernel = kernel;
    pending.params[0] = word;
    for (const Tensor* tensor : tensors) {
        const Binding binding = binding_of(*tensor, 1);
        pending.add(memory_->block(binding.block), binding,
                    {binding.block, binding.begin, binding.begin + binding.bytes, tensor == tensors.back()});
    }
    add(pending);
}

void Stream::record_transfer(const Pending& pending) {
    guard({pending.accesses.data(), pending.bindings});
    Commands& commands = touching({pending.accesses.data(), pending.bindings});
    const DeviceFunctions& functions = device_.functions();
    const VkDescriptorBufferInfo& to = pending.buffers[pending.bindings - 1];
    if (pending.kernel == Kernel::Fill) {
        functions.vkCmdFillBuffer(commands.buffer, to.buffer, to.offset, to.range, pending.params[0]);
    } else {
        const VkDescriptorBufferInfo& source = pending.buffers[0];
        const VkBufferCopy region{source.offset, to.offset, to.range};
        functions.vkCmdCopyBuffer(commands.buffer, source.buffer, to.buffer, 1, &region);
    }
    commands.kernels |= bit_of(pending.kernel);
    count(1, to.range);
}

void Stream::upload(const Tensor& to, const std::byte* from, std::size_t bytes) {
    require_enqueued("uploaded");
    record_all();
    const Binding target = binding_of(to, 1);
    for (std::size_t done = 0; done < bytes;) {
        require_submitted();
        if (current().staged == kStagingBytes) {
            submit();
        }
        if (current().staging == nullptr) {
            std::unique_ptr<RawBuffer> staging = memory_->allocate_host(kStagingBytes, 0);
            current().staging = std::move(staging);  // making room may have changed the slot
        }
        Slot& slot = current();
        const std::size_t part = std::min(bytes - done, kStagingBytes - slot.staged);
        std::memcpy(slot.staging->mapped() + slot.staged, from + done, part);
        const Access write{target.block, target.begin + done, target.begin + done + part, true};
        guard({&write, 1});
        const VkBufferCopy region{slot.staged, target.begin + done, part};
        device_.functions().vkCmdCopyBuffer(touching({&write, 1}).buffer, slot.staging->handle(),
                                            memory_->block(target.block), 1, &region);
        // Copies can have any length, but every staged piece starts at a multiple of 16.
        slot.staged = std::min((slot.staged + part + 15) / 16 * 16, kStagingBytes);
        done += part;
    }
}

void Stream::download(const Tensor& from, std::byte* to, std::size_t bytes) {
    require_enqueued("downloaded");
    if (download_ == nullptr) {
        download_ = memory_->allocate_host(kStagingBytes, VK_MEMORY_PROPERTY_HOST_CACHED_BIT);
    }
    record_all();
    const Binding source = binding_of(from, 1);
    for (std::size_t done = 0; done < bytes;) {
        const std::size_t part = std::min(bytes - done, kStagingBytes);
        const std::array accesses{Access{source.block, source.begin + done, source.begin + done + part, false},
                                  Access{kDownloadBlock, 0, part, true}};
        guard(accesses);
        const VkCommandBuffer commands = touching(accesses).buffer;
        const VkBufferCopy region{source.begin + done, 0, part};
        device_.functions().vkCmdCopyBuffer(commands, memory_->block(source.block), download_->handle(), 1, &region);
        VkMemoryBarrier barrier{};
        barrier.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER;
        barrier.srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT;
        barrier.dstAccessMask = VK_ACCESS_HOST_READ_BIT;
        device_.functions().vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_HOST_BIT,
                                                 0, 1, &barrier, 0, nullptr, 0, nullptr);
        synchronize();
        std::memcpy(to + done, download_->mapped(), part);
        done += part;
    }
    if (bytes == 0) {
        synchronize();
    }
}

}  // namespace headscope::vulkan
