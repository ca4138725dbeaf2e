// The stream's slots, in which work is recorded, submitted and waited for.
#include <algorithm>
#include <string>
#include <utility>

#include "backend/backend.h"
#include "backends/vulkan/stream/stream.h"
#include "support/check.h"

namespace headscope::vulkan {

namespace {

constexpr std::uint8_t kMostKernels = 64;

}  // namespace

Stream::Slot& Stream::add_slot() {
    Slot slot;
    VkCommandBufferAllocateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
    info.commandPool = pool_;
    info.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
    info.commandBufferCount = 1;
    check(device_.functions().vkAllocateCommandBuffers(device_.handle(), &info, &slot.commands.buffer),
          "vkAllocateCommandBuffers");
    VkFenceCreateInfo fence{};
    fence.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO;
    check(device_.functions().vkCreateFence(device_.handle(), &fence, nullptr, &slot.fence), "vkCreateFence");
    return slots_.emplace_back(std::move(slot));
}

Stream::Slot* Stream::oldest(SlotState state) {
    Slot* found = nullptr;
    for (Slot& slot : slots_) {
        if (slot.state == state && (found == nullptr || slot.submission < found->submission)) {
            found = &slot;
        }
    }
    return found;
}

Stream::Slot& Stream::free_slot() {
    if (Slot* const free = oldest(SlotState::Free); free != nullptr) {
        return *free;
    }
    if (Slot* const busy = oldest(SlotState::Submitted); busy != nullptr) {
        wait(*busy);
        return *busy;
    }
    return add_slot();
}

Stream::Slot& Stream::current() {
    if (Slot* const recorded = oldest(SlotState::Recording); recorded != nullptr) {
        return *recorded;
    }
    Slot& slot = free_slot();
    VkCommandBufferBeginInfo begin{};
    begin.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
    begin.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
    VkResult result = device_.functions().vkBeginCommandBuffer(slot.commands.buffer, &begin);
    if (is_out_of_memory(result)) {
        wait_until(begun_);  // frees the driver's memory for work in flight
        result = device_.functions().vkBeginCommandBuffer(slot.commands.buffer, &begin);
    }
    keep_failure([&] { check(result, "vkBeginCommandBuffer"); });
    slot.state = SlotState::Recording;
    slot.submission = ++begun_;
    slot.commands.kernels = 0;
    slot.commands.blocks.clear();
    slot.commands.dispatches = 0;
    slot.commands.work = 0;
    slot.staged = 0;
    slot.commands.pool = 0;
    for (const VkDescriptorPool pool : slot.commands.pools) {
        check(device_.functions().vkResetDescriptorPool(device_.handle(), pool, 0), "vkResetDescriptorPool");
    }
    return slot;
}

void Stream::submit() {
    if (Slot* const slot = oldest(SlotState::Recording); slot != nullptr) {
        slot->state = SlotState::Free;
        keep_failure(
            [&] { check(device_.functions().vkEndCommandBuffer(slot->commands.buffer), "vkEndCommandBuffer"); });
        slot->state = SlotState::Ended;
    }
    submit_ended();
}

void Stream::submit_ended() {
    for (Slot* slot = oldest(SlotState::Ended); slot != nullptr; slot = oldest(SlotState::Ended)) {
        if (!submitted(*slot)) {
            wait_until(slot->submission);  // frees the driver's memory for work in flight
            if (!submitted(*slot)) {
                return;
            }
        }
    }
}

bool Stream::submitted(Slot& slot) {
    VkSubmitInfo info{};
    info.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
    info.commandBufferCount = 1;
    info.pCommandBuffers = &slot.commands.buffer;
    slot.submitted_at = Clock::now();
    const bool pretended = lost_at_submission_ != 0 && slot.submission >= lost_at_submission_;
    const VkResult result =
        pretended ? VK_ERROR_DEVICE_LOST : device_.functions().vkQueueSubmit(device_.queue(), 1, &info, slot.fence);
    if (is_out_of_memory(result)) {
        refusal_ = result;
        return false;
    }
    keep_failure([&] { check_running(result, "vkQueueSubmit"); });
    slot.state = SlotState::Submitted;
    return true;
}

void Stream::require_submitted() {
    if (oldest(SlotState::Ended) == nullptr || failure_ != nullptr) {
        return;
    }
    submit_ended();
    if (oldest(SlotState::Ended) == nullptr) {
        return;
    }
    memory_->free_blocks();
    submit_ended();
    if (const Slot* const slot = oldest(SlotState::Ended); slot != nullptr) {
        refuse(slot->submission);
    }
}

// The first failure lets the caller free memory and retry; a second one counts as device lost. Failures within a
// recording do not count: the recording itself is dropped.
void Stream::refuse(std::uint64_t submission) {
    const std::string what = "the driver cannot submit work (vkQueueSubmit failed with " + name_of(refusal_) + ")";
    if (recording() || std::exchange(refused_, submission) != submission) {
        memory_->fail(what);
    }
    lose(what + ", also after all else was let go of");
}

void Stream::lose(const std::string& lack) {
    if (failure_ == nullptr) {
        failure_ = std::make_exception_ptr(
            DeviceLost("out of memory on " + device_.info().id + " (" + device_.info().name + "): " + lack +
                       "; end other programs that use it, use smaller batches or a smaller model, or --device cpu"));
    }
    std::rethrow_exception(failure_);
}

bool Stream::awaits(std::uint32_t block) const {
    return std::any_of(slots_.begin(), slots_.end(), [block](const Slot& slot) {
        return slot.state != SlotState::Free && slot.commands.blocks.count(block) > 0;
    });
}

void Stream::wait(Slot& slot) {
    const Clock::time_point start = Clock::now();
    keep_failure([&] {
        check_running(device_.functions().vkWaitForFences(device_.handle(), 1, &slot.fence, VK_TRUE, UINT64_MAX),
                      "vkWaitForFences");
        check(device_.functions().vkResetFences(device_.handle(), 1, &slot.fence), "vkResetFences");
    });
    const Clock::time_point now = Clock::now();
    slice_.done(slot.commands.work, std::chrono::duration<double>(now - slot.submitted_at).count(),
                std::chrono::duration<double>(now - start).count());
    slot.state = SlotState::Free;
    finished_ = std::max(finished_, slot.submission);
    destroy_views(device_, slot.commands);
    slot.launched.clear();
}

void Stream::wait_until(std::uint64_t submission) {
    for (Slot* slot = oldest(SlotState::Submitted); slot != nullptr && slot->submission <= submission;
         slot = oldest(SlotState::Submitted)) {
        wait(*slot);
    }
}

void Stream::finish() {
    record_all();
    submit();
    wait_until(begun_);
}

void Stream::synchronize() {
    require_enqueued("waited for the device");
    record_all();
    submit();
    require_submitted();
    wait_until(begun_);
    device_.check_validation();
}

void Stream::require_whole() const {
    if (failure_ != nullptr) {
        std::rethrow_exception(failure_);
    }
}

void Stream::check_running(VkResult result, const char* call) const {
    try {
        check(result, call);
    } catch (const DeviceLost& lost) {
        std::uint64_t kernels = 0;
        for (const Slot& slot : slots_) {
            kernels |= slot.state != SlotState::Free ? slot.commands.kernels : 0;
        }
        std::string running;
        for (std::uint8_t index = 0; index < kMostKernels; ++index) {
            const auto kernel = static_cast<Kernel>(index);
            if ((kernels & bit_of(kernel)) != 0) {
                running += (running.empty() ? "" : ", ") + std::string(module_of(kernel).name);
            }
        }
        throw DeviceLost(std::string(lost.what()) + "; it was running " + (running.empty() ? "no kernel" : running));
    }
}

std::uint64_t Stream::bit_of(Kernel kernel) {
    const auto index = static_cast<std::uint8_t>(kernel);
    HEADSCOPE_CHECK(index < kMostKernels, "there are more than 64 kernels");
    return std::uint64_t{1} << index;
}

}  // namespace headscope::vulkan
