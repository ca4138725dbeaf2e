// The stream's recordings, and its notes of kernels that ran.
#include <utility>

#include "backend/replays.h"
#include "backends/vulkan/stream/stream.h"
#include "support/check.h"

namespace headscope::vulkan {

Commands& Stream::target() {
    return recording() ? recording_->part() : current().commands;
}

void Stream::require_enqueued(const char* what) const {
    HEADSCOPE_CHECK(!recording(), not_in_a_replay(what));
}

std::shared_ptr<const Recording> Stream::record(const std::function<void()>& body) {
    require_enqueued("recorded another");
    record_all();
    const Hazards outside = std::exchange(hazards_, {});
    recording_ = std::make_unique<Recording>(device_, pool_);
    const auto end = [&] {
        hazards_ = outside;
        return std::exchange(recording_, nullptr);
    };
    try {
        body();
        recording_->end_part();
    } catch (const DriverOutOfMemory& error) {
        end();
        throw OutOfMemory(error.what());  // nothing ran yet: single ops may fit
    } catch (...) {
        end();
        throw;
    }
    return end();
}

void Stream::launch(const std::shared_ptr<const Recording>& recording) {
    require_enqueued("launched another");
    record_all();
    // What runs before and after may touch the same memory. On NVIDIA (580.159) barriers that begin and end the
    // recorded commands do not order it.
    keep_failure([&] {
        for (const Commands& part : recording->parts()) {
            barrier();
            Slot& slot = current();
            device_.functions().vkCmdExecuteCommands(slot.commands.buffer, 1, &part.buffer);
            slot.commands.kernels |= part.kernels;
            slot.commands.blocks.insert(part.blocks.begin(), part.blocks.end());
            slot.launched.push_back(recording);
            count(part.dispatches, part.work);
        }
        barrier();
    });
    hazards_.clear();
    if (notes_kernels_) {
        notes_.dispatched.insert(recording->notes.dispatched.begin(), recording->notes.dispatched.end());
        notes_.moved.insert(recording->notes.moved.begin(), recording->notes.moved.end());
    }
}

KernelNotes* Stream::notes() {
    if (recording()) {
        return &recording_->notes;
    }
    return notes_kernels_ ? &notes_ : nullptr;
}

std::vector<std::string> Stream::drain_kernel_names() {
    notes_kernels_ = true;
    std::vector<std::string> names;
    for (const auto& [kernel, specialisation] : notes_.dispatched) {
        names.push_back(pipelines_.title(kernel, specialisation));
    }
    for (const Kernel kernel : notes_.moved) {
        names.push_back(std::string(module_of(kernel).name) + " by the queue");
    }
    notes_ = {};
    return names;
}

}  // namespace headscope::vulkan
