#include "backends/vulkan/stream/event.h"

#include "support/check.h"

namespace headscope::vulkan {

double StreamEvent::seconds_since(const Event& earlier) const {
    const auto* other = dynamic_cast<const StreamEvent*>(&earlier);
    HEADSCOPE_CHECK(other != nullptr && &other->stream_ == &stream_,
                    "two events of different backends have no time between them");
    return stream_.seconds_between(other->mark_, mark_);
}

// A submission is done when its fence is signalled, and so are those before it.

Stream::Mark Stream::mark() {
    require_enqueued("recorded an event");
    record_all();
    const Slot& slot = current();
    const Mark mark{timestamps_.take(), slot.submission};
    timestamps_.write(slot.commands.buffer, mark.place);
    return mark;
}

void Stream::require_submitted(const Mark& mark) {
    if (mark.submission <= finished_) {
        return;
    }
    require_whole();
    if (slot_of(mark).state != SlotState::Submitted) {
        submit();
        require_submitted();
    }
}

bool Stream::reached(const Mark& mark) {
    require_submitted(mark);
    if (mark.submission <= finished_) {
        return true;
    }
    const VkResult status = device_.functions().vkGetFenceStatus(device_.handle(), slot_of(mark).fence);
    if (status == VK_NOT_READY) {
        return false;
    }
    check(status, "vkGetFenceStatus");
    finished_ = mark.submission;
    return true;
}

void Stream::wait_for(const Mark& mark) {
    require_submitted(mark);
    wait_until(mark.submission);
}

double Stream::seconds_between(const Mark& earlier, const Mark& later) const {
    HEADSCOPE_CHECK(earlier.submission <= finished_ && later.submission <= finished_,
                    "the time between two events is known when both are reached");
    return timestamps_.seconds_between(earlier.place, later.place);
}

Stream::Slot& Stream::slot_of(const Mark& mark) {
    for (Slot& slot : slots_) {
        if (slot.submission == mark.submission) {
            return slot;
        }
    }
    HEADSCOPE_CHECK(false, "a submission that is not finished has its slot");
}

}  // namespace headscope::vulkan
