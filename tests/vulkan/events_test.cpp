// The device's clock, and events without one.
#include <catch2/catch.hpp>

#include "backend/ops/elementwise.h"
#include "backend/ops/matmul.h"
#include "backends/vulkan/stream/timestamps.h"
#include "backends/vulkan/vulkan_backend.h"
#include "environment.h"

using namespace headscope;
using headscope::vulkan_tests::Environment;
using headscope::vulkan_tests::usable_device;

TEST_CASE("a clock with few bits wraps around", "[vulkan][events]") {
    using vulkan::ticks_between;
    CHECK(ticks_between(100, 350, 64) == 250);
    CHECK(ticks_between(~std::uint64_t{0} - 1, 3, 64) == 5);
    CHECK(ticks_between(0xFFFF0, 0x00010, 20) == 0x20);
    CHECK(ticks_between(0xFFFFFFFF0, 0x000000010, 36) == 0x20);
    CHECK(ticks_between(7, 7, 36) == 0);
}

TEST_CASE("without timestamps events wait and use the host's clock", "[vulkan][events]") {
    const Environment disable("HEADSCOPE_VULKAN_DISABLE", "timestamps");
    if (!usable_device()) {
        return;
    }
    const std::unique_ptr<Backend> device = open_vulkan_device(0);
    const Support events = device->events();
    CHECK(events.level == SupportLevel::Composed);
    CHECK_THAT(events.reason, Catch::Matchers::Contains("no timestamps"));
    const Tensor x = device->empty({256, 256}, DType::F32);
    const std::shared_ptr<Event> before = device->record_event();
    device->run(Fill{.out = x, .value = 1.0F});
    device->run(Matmul{.a = x, .b = x, .out = device->empty({256, 256}, DType::F32)});
    const std::shared_ptr<Event> after = device->record_event();
    CHECK(after->reached());  // without a wait
    CHECK(after->seconds_since(*before) > 0.0);
}
