// How slices of work grow with a device's times.
#include "backends/vulkan/stream/slice_size.h"

#include <catch2/catch.hpp>

using namespace headscope::vulkan;

namespace {

constexpr std::uint64_t kLeast = SliceSize::kLeast;
constexpr double kWaitedNot = 0.0;

}  // namespace

TEST_CASE("slices grow while they finish quickly, up to a limit", "[vulkan][slices]") {
    SliceSize slice;
    CHECK(slice.work() == kLeast);
    slice.done(kLeast, 0.001, 0.001);
    CHECK(slice.work() == 2 * kLeast);
    slice.done(2 * kLeast, 0.5, kWaitedNot);  // when the host looked; the device may have been faster
    CHECK(slice.work() == 2 * kLeast);
    for (int i = 0; i < 40; ++i) {
        slice.done(slice.work(), 0.001, kWaitedNot);
    }
    CHECK(slice.work() == SliceSize::kMost);
}

TEST_CASE("a slice that ended for another reason than its work does not count for longer ones", "[vulkan][slices]") {
    SliceSize slice;
    slice.done(kLeast - 1, 0.0001, kWaitedNot);
    CHECK(slice.work() == kLeast);
}

TEST_CASE("slices for which the host waits long become shorter, down to the initial size", "[vulkan][slices]") {
    SliceSize slice;
    for (int i = 0; i < 3; ++i) {
        slice.done(slice.work(), 0.001, kWaitedNot);
    }
    CHECK(slice.work() == 8 * kLeast);
    slice.done(1, 0.3, 0.3);  // whatever the kernel was: the slice was too long
    CHECK(slice.work() == 4 * kLeast);
    for (int i = 0; i < 5; ++i) {
        slice.done(slice.work(), 1.0, 1.0);
    }
    CHECK(slice.work() == kLeast);
}
