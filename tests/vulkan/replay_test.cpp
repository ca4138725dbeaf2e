// Backend::replay by recorded command buffers: on a device, and on the fake driver, which notes what reaches its queue.
#include <catch2/catch.hpp>

#include "backends/vulkan/vulkan_backend.h"
#include "environment.h"
#include "fake_loader.h"
#include "streamed.h"
#include "support/check.h"
#include "tests/backend/replay_contract.h"

using namespace headscope;
using namespace headscope::vulkan;
using headscope::vulkan_tests::Environment;
using headscope::vulkan_tests::Executed;
using headscope::vulkan_tests::FakeLoader;
using headscope::vulkan_tests::let_compile;
using headscope::vulkan_tests::Streamed;
using headscope::vulkan_tests::usable_device;

namespace {

constexpr std::int64_t kMiB = std::int64_t{1} << 20U;

}  // namespace

TEST_CASE("what is replayed keeps the seam's promises", "[vulkan][replay]") {
    if (!usable_device()) {
        return;
    }
    // Descriptors that are pushed are part of the commands; sets belong to pools.
    for (const char* disabled : {"tuning", "push_descriptors", "transfers"}) {
        INFO("without " << disabled);
        const Environment without("HEADSCOPE_VULKAN_DISABLE", disabled);
        const std::unique_ptr<Backend> backend = open_vulkan_device(0);
        replay_contract::launches_what_comes_again(*backend);
        replay_contract::tells_runs_apart(*backend);
        replay_contract::refuses_other_than_ops(*backend);
    }
}

TEST_CASE("runs of long dispatches are not kept, and none where replays are switched off", "[vulkan][replay]") {
    if (!usable_device()) {
        return;
    }
    const Environment everything("HEADSCOPE_VULKAN_DISABLE", "");
    const auto calls = [] {
        const std::unique_ptr<Backend> backend = open_vulkan_device(0);
        const Tensor a = backend->empty({512, 512}, DType::F32);
        const Tensor sums = backend->empty({512, 512}, DType::F32);
        std::array<int, 2> counted{};
        for (int run = 0; run < 4; ++run) {
            backend->replay("long", {a, sums}, [&] {
                ++counted[0];
                backend->run(Matmul{.a = a, .b = a, .out = sums});
            });
            backend->replay("short", {a}, [&] {
                ++counted[1];
                backend->run(Fill{.out = a, .value = 1.0F});
            });
        }
        CHECK(to_host<float>(*backend, sums)[0] == 512.0F);
        return counted;
    };
    CHECK(calls() == std::array{4, 2});
    const Environment without("HEADSCOPE_VULKAN_DISABLE", "replays");
    CHECK(calls() == std::array{4, 4});
}

TEST_CASE("without room for a recording's own memory the ops run one by one", "[vulkan][replay]") {
    if (!usable_device()) {
        return;
    }
    const Environment everything("HEADSCOPE_VULKAN_DISABLE", "");
    const Environment limit("HEADSCOPE_VULKAN_MAX_MEMORY", "100");  // a block of 64 MiB, and the rest
    const std::unique_ptr<Backend> backend = open_vulkan_device(0);
    const Tensor x = backend->empty({8}, DType::F32);
    std::int64_t large = 50 * kMiB;
    int calls = 0;
    const auto run = [&] {
        backend->replay("large", {x}, [&] {
            ++calls;
            const Tensor activations = backend->empty({large}, DType::I8);
            backend->run(Fill{.out = x, .value = static_cast<float>(calls)});
        });
    };
    for (int i = 0; i < 4; ++i) {
        run();
    }
    CHECK(calls == 5);  // the second time twice: once to be recorded, in vain
    CHECK(to_host<float>(*backend, x)[0] == 5.0F);
    large = 20 * kMiB;  // as if something else had let go of memory
    for (int i = 0; i < 400; ++i) {
        run();
    }
    CHECK(calls < 300);  // after a while it is recorded all the same
}

TEST_CASE("memory that is needed elsewhere is had from recordings", "[vulkan][replay]") {
    if (!usable_device()) {
        return;
    }
    const Environment everything("HEADSCOPE_VULKAN_DISABLE", "");
    const Environment limit("HEADSCOPE_VULKAN_MAX_MEMORY", "128");  // two blocks
    const std::unique_ptr<Backend> backend = open_vulkan_device(0);
    const Tensor x = backend->empty({2 * kMiB}, DType::F32);
    int calls = 0;
    const auto run = [&] {
        backend->replay("some", {x}, [&] {
            ++calls;
            const Tensor some = backend->empty({kMiB}, DType::F32);
            backend->run(Fill{.out = some, .value = 1.0F});
            backend->run(Fill{.out = x, .value = static_cast<float>(calls)});
        });
    };
    for (int i = 0; i < 4; ++i) {
        run();
    }
    CHECK(calls == 2);
    {
        const Tensor all = backend->empty({60 * kMiB}, DType::I8);
        CHECK(all.defined());
    }
    run();
    CHECK(calls == 3);
    CHECK(to_host<float>(*backend, x)[0] == 3.0F);
}

TEST_CASE("a run of long dispatches may take the memory of the recordings", "[vulkan][replay]") {
    if (!usable_device()) {
        return;
    }
    const Environment everything("HEADSCOPE_VULKAN_DISABLE", "");
    const Environment limit("HEADSCOPE_VULKAN_MAX_MEMORY", "128");  // two blocks
    const std::unique_ptr<Backend> backend = open_vulkan_device(0);
    const Tensor a = backend->empty({1024, 1024}, DType::F32);
    backend->run(Fill{.out = a, .value = 1.0F});
    for (int run = 0; run < 4; ++run) {
        backend->replay("short", {a}, [&] {
            const Tensor some = backend->empty({kMiB}, DType::F32);
            backend->run(Copy{.x = a.reshape({kMiB}), .out = some});
        });
    }
    for (int run = 0; run < 2; ++run) {
        backend->replay("long", {a}, [&] {
            const Tensor all = backend->empty({62 * kMiB}, DType::I8);  // more than is left beside them
            const Tensor sums = backend->empty({512, 512}, DType::F32);
            const Tensor part = a.narrow(0, 0, 512).narrow(1, 0, 512);
            backend->run(Matmul{.a = part, .b = part, .out = sums});
            CHECK(all.defined());
        });
    }
    CHECK(to_host<float>(*backend, a)[0] == 1.0F);
}

TEST_CASE("a recording ends with the block that its operands were in", "[vulkan][replay]") {
    if (!usable_device()) {
        return;
    }
    const Environment everything("HEADSCOPE_VULKAN_DISABLE", "");
    const std::unique_ptr<Backend> backend = open_vulkan_device(0);
    const Tensor small = backend->empty({8}, DType::F32);
    int calls = 0;
    const auto run = [&](float value) {
        const Tensor large = backend->empty({200 * kMiB / 4}, DType::F32);
        const Tensor end = large.narrow(0, 0, 8);
        backend->run(Fill{.out = small, .value = value});
        backend->replay("copy", {small, end}, [&] {
            ++calls;
            backend->run(Copy{.x = small, .out = end});
        });
        CHECK(to_host<float>(*backend, end)[7] == value);
    };
    for (int i = 1; i <= 4; ++i) {
        run(static_cast<float>(i));
    }
    CHECK(calls == 2);
    for (int i = 0; i < 600; ++i) {
        backend->synchronize();  // until the empty block goes
    }
    run(5.0F);  // by its number, and at its place, another block
    CHECK(calls == 3);
}

TEST_CASE("a recording is as many command buffers as slices, in order, and lives until it is done",
          "[vulkan][stream]") {
    FakeLoader fake(1);
    fake->opens = true;
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
    recording.reset();  // while the last of it waits to be submitted
    made.stream.synchronize();
    CHECK(fake->commands_live == 4);
    Executed all;
    for (int run = 0; run < 2; ++run) {
        all.emplace_back("copy 16");
        all.insert(all.end(), expected.begin(), expected.end());
    }
    CHECK(fake->executed == all);
}

TEST_CASE("a recording stands between barriers, whatever was before it", "[vulkan][stream]") {
    FakeLoader fake(1);
    fake->opens = true;
    fake->notes_barriers = true;
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

TEST_CASE("what is recorded waits for its pipelines, and for those of what came before", "[vulkan][stream]") {
    FakeLoader fake(1);
    fake->opens = true;
    fake->compiles_nothing = true;
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

TEST_CASE("a recording that fails loses nothing, and a device that is lost names what was launched",
          "[vulkan][stream]") {
    FakeLoader fake(1);
    fake->opens = true;
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

TEST_CASE("kernels that a recording runs are told where they are launched", "[vulkan][stream]") {
    FakeLoader fake(1);
    fake->opens = true;
    Streamed made(0);
    (void)made.stream.take_kernels();
    const Tensor x = made.tensor();
    const auto recording = made.stream.record([&] {
        made.dispatch_fill(x, 1);
        made.stream.fill(x, 2);
    });
    CHECK(made.stream.take_kernels().empty());
    made.stream.launch(recording);
    const std::vector<std::string> told = made.stream.take_kernels();
    REQUIRE(told.size() == 2);
    CHECK_THAT(told[0], Catch::StartsWith("fill, 64 lanes"));
    CHECK(told[1] == "fill by the queue");
}
