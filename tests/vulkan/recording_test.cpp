// What a recording submits, and when, on the fake driver, which logs its queue.
#include "backends/vulkan/stream/recording.h"

#include <catch2/catch.hpp>

#include "backends/vulkan/stream/stream.h"
#include "fake_loader.h"
#include "streamed.h"
#include "support/check.h"

using namespace headscope;
using namespace headscope::vulkan;
using namespace headscope::vulkan_tests;

TEST_CASE("a recording has one command buffer for each slice, in order, and lives until it is done",
          "[vulkan][stream]") {
    FakeLoader fake({.devices = 1, .opens = true});
    Streamed made(0);
    const Tensor x = made.tensor();
    const Tensor y = made.tensor();
    Executed expected;
    std::shared_ptr<const Recording> recording = made.stream.record([&] {
        for (std::uint64_t groups = 1; groups <= 130; ++groups) {
            made.dispatch_fill(x, groups);
            expected.push_back("dispatch " + std::to_string(groups));
        }
        made.stream.fill(y, 9);
        expected.emplace_back("fill 9");
    });
    CHECK(recording->parts().size() == 3);
    made.stream.synchronize();
    CHECK(fake->executed.empty());
    CHECK(fake->commands_live == 4 + 3);
    made.stream.copy(x, y);
    made.stream.launch(recording);
    made.stream.copy(x, y);
    made.stream.launch(recording);
    recording.reset();  // while its last launch is not submitted yet
    made.stream.synchronize();
    CHECK(fake->commands_live == 4);
    Executed all;
    for (int run = 0; run < 2; ++run) {
        all.emplace_back("copy 16");
        all.insert(all.end(), expected.begin(), expected.end());
    }
    CHECK(fake->executed == all);
}

TEST_CASE("a recording is between barriers, whatever came before", "[vulkan][stream]") {
    FakeLoader fake({.devices = 1, .opens = true, .notes_barriers = true});
    Streamed made(0);
    const Tensor x = made.tensor();
    const Tensor y = made.tensor();
    const auto recording = made.stream.record([&] {
        made.dispatch_fill(x, 1);
        made.dispatch_fill(y, 2);
    });
    made.dispatch_fill(x, 3);
    made.stream.launch(recording);
    made.dispatch_fill(y, 4);
    made.stream.synchronize();
    CHECK(fake->executed == Executed{"dispatch 3", "barrier", "dispatch 1", "dispatch 2", "barrier", "dispatch 4"});
}

TEST_CASE("a recording waits for its pipelines, and for those of earlier work", "[vulkan][stream]") {
    FakeLoader fake({.devices = 1, .opens = true, .compiles_nothing = true});
    Streamed made(2);
    const Tensor x = made.tensor();
    const Tensor y = made.tensor();
    made.dispatch_fill(x, 1);
    let_compile(fake, true);
    const auto recording = made.stream.record([&] { made.dispatch_copy(x, y, 2); });
    made.dispatch_fill(x, 3);
    made.stream.launch(recording);
    made.stream.synchronize();
    CHECK(fake->executed == Executed{"dispatch 1", "dispatch 3", "dispatch 2"});
}

TEST_CASE("a recording that fails loses nothing, and a lost device names what was launched", "[vulkan][stream]") {
    FakeLoader fake({.devices = 1, .opens = true});
    {
        fake->fails_to_compile = 1;
        Streamed made(0);
        const Tensor x = made.tensor();
        CHECK_THROWS_WITH(made.stream.record([&] { made.dispatch_fill(x, 1); }),
                          Catch::Contains("cannot compile the kernel fill"));
        CHECK_FALSE(made.stream.recording());
        made.stream.fill(x, 1);
        made.stream.synchronize();
        CHECK(fake->executed == Executed{"fill 1"});
    }
    Streamed made(0, 1);
    const Tensor x = made.tensor();
    const Tensor y = made.tensor();
    const auto recording = made.stream.record([&] { made.dispatch_copy(x, y, 1); });
    made.stream.launch(recording);
    CHECK_THROWS_WITH(made.stream.synchronize(), Catch::Contains("it was running copy"));
    CHECK_THROWS_AS(made.stream.launch(recording), DeviceLost);
}

TEST_CASE("a recording for which the driver has no memory is dropped, and ops run one by one", "[vulkan][stream]") {
    for (const VkResult result : {VK_ERROR_OUT_OF_DEVICE_MEMORY, VK_ERROR_OUT_OF_HOST_MEMORY}) {
        FakeLoader fake({.devices = 1, .opens = true});
        Streamed made(0);
        const Tensor x = made.tensor();
        fake->allocating_commands = result;
        CHECK_THROWS_AS(made.stream.record([&] { made.dispatch_fill(x, 1); }), OutOfMemory);
        CHECK_FALSE(made.stream.recording());
        made.dispatch_fill(x, 2);
        made.stream.synchronize();
        CHECK(fake->executed == Executed{"dispatch 2"});
        CHECK(fake->commands_live == 4);
    }
    FakeLoader fake({.devices = 1, .opens = true});
    Streamed made(0);
    const Tensor x = made.tensor();
    fake->allocating_commands = VK_ERROR_INITIALIZATION_FAILED;  // not cured by freeing memory
    CHECK_THROWS_WITH(made.stream.record([&] { made.dispatch_fill(x, 1); }),
                      Catch::Contains("vkAllocateCommandBuffers failed with VK_ERROR_INITIALIZATION_FAILED"));
}

TEST_CASE("a recording's kernels are reported when it is launched", "[vulkan][stream]") {
    FakeLoader fake({.devices = 1, .opens = true});
    Streamed made(0);
    (void)made.stream.drain_kernel_names();
    const Tensor x = made.tensor();
    const auto recording = made.stream.record([&] {
        made.dispatch_fill(x, 1);
        made.stream.fill(x, 2);
    });
    CHECK(made.stream.drain_kernel_names().empty());
    made.stream.launch(recording);
    const std::vector<std::string> told = made.stream.drain_kernel_names();
    REQUIRE(told.size() == 2);
    CHECK_THAT(told[0], Catch::StartsWith("fill, 64 lanes"));
    CHECK(told[1] == "fill by the queue");
}
