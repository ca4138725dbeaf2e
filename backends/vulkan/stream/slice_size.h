// How long the slices are in which work is submitted: pure, so that it is tested without a device.
#pragma once

#include <algorithm>
#include <cstdint>

namespace headscope::vulkan {

// Short enough for any driver's watchdog (a GPU that is busy for seconds is reset) and for a second queue to get its
// turn, and long enough to fill the device and to hide what a submission costs. What a device does in that time nobody
// knows beforehand, so slices begin short and grow while they are seen to be done soon.
class SliceSize {
public:
    // About the floating-point operations of a slice.
    static constexpr std::uint64_t kLeast = std::uint64_t{1} << 31U;
    static constexpr std::uint64_t kMost = std::uint64_t{1} << 40U;

    std::uint64_t work() const { return work_; }

    // A slice of `work` was seen to be done `seconds` after it had been submitted, `waited` of which the host had
    // nothing else to do: the device took at most the first, and, behind others, about the second.
    void done(std::uint64_t work, double seconds, double waited) {
        constexpr double kSoon = 0.02;
        constexpr double kLate = 0.2;
        if (waited > kLate) {
            work_ = std::max(work_ / 2, kLeast);
        } else if (work >= work_ && seconds < kSoon) {
            work_ = std::min(work_ * 2, kMost);
        }
    }

private:
    std::uint64_t work_ = kLeast;
};

}  // namespace headscope::vulkan
