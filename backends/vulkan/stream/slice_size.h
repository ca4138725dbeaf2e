// The size of the slices in which work is submitted: pure, testable without a device.
#pragma once

#include <algorithm>
#include <cstdint>

namespace headscope::vulkan {

// Short enough for any driver's watchdog (which resets a GPU that is busy for seconds) and for other queues, and long
// enough to fill the device and hide the cost of submission. Nobody knows in advance what a device does in that time,
// so slices begin short and grow as long as they finish quickly.
class SliceSize {
public:
    // The approximate number of floating-point operations of a slice.
    static constexpr std::uint64_t kLeast = std::uint64_t{1} << 31U;
    static constexpr std::uint64_t kMost = std::uint64_t{1} << 40U;

    std::uint64_t work() const { return work_; }

    // Reports that a slice of `work` was done `seconds` after its submission, of which the host waited idle for
    // `waited`: the device took at most `seconds` and, behind other slices, about `waited`.
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
