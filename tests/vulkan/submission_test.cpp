// The order in which work is waited for, and work that the driver lacks memory to submit, on the fake driver, which
// logs its queue.
#include <array>
#include <catch2/catch.hpp>
#include <functional>
#include <string>
#include <vector>

#include "backend/ops/elementwise.h"
#include "backends/vulkan/stream/stream.h"
#include "backends/vulkan/vulkan_backend.h"
#include "fake_loader.h"
#include "streamed.h"
#include "support/check.h"

using namespace headscope;
using namespace headscope::vulkan;
using namespace headscope::vulkan_tests;

namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20U;
constexpr std::uint64_t kSlice = 64;  // short dispatches in a slice

// The shape of an F32 tensor of `count` MiB.
Shape mebibytes(std::int64_t count) {
    return {count, std::int64_t{1} << 18U};
}

void dispatch(Streamed& made, const Tensor& to, std::uint64_t count) {
    for (std::uint64_t groups = 1; groups <= count; ++groups) {
        made.dispatch_fill(to, groups);
    }
}

Executed dispatched(std::uint64_t count) {
    Executed all;
    for (std::uint64_t groups = 1; groups <= count; ++groups) {
        all.push_back("dispatch " + std::to_string(groups));
    }
    return all;
}

}  // namespace

TEST_CASE("submissions are waited for in order", "[vulkan][stream]") {
    FakeLoader fake({.devices = 1, .opens = true});
    Streamed made(0);
    const Tensor x = made.tensor();
    dispatch(made, x, 6 * kSlice);
    made.stream.synchronize();
    CHECK(fake->waited == std::vector{1, 2, 3, 4, 5, 6});
    fake->waited.clear();
    dispatch(made, x, kSlice);
    const Stream::Mark mark = made.stream.mark();
    dispatch(made, x, 2 * kSlice);
    made.stream.wait_for(mark);
    CHECK(fake->waited == std::vector{7, 8});
    made.stream.wait_for(mark);
    CHECK(fake->waited.size() == 2);
    CHECK(made.stream.reached(mark));
}

TEST_CASE("an event is reached without a wait", "[vulkan][stream]") {
    FakeLoader fake({.devices = 1, .opens = true});
    Streamed made(0);
    const Tensor x = made.tensor();
    made.dispatch_fill(x, 3);
    const Stream::Mark mark = made.stream.mark();
    CHECK(fake->executed.empty());
    CHECK(made.stream.reached(mark));  // the fake is done at once
    CHECK(fake->executed == Executed{"dispatch 3"});
    CHECK(fake->waited.empty());
}

TEST_CASE("work without memory to submit is submitted once earlier work is done", "[vulkan][stream]") {
    FakeLoader fake({.devices = 1, .opens = true});
    Streamed made(0);
    const Tensor x = made.tensor();
    dispatch(made, x, 2 * kSlice);
    CHECK(fake->waited.empty());
    fake->refusals = 1;
    dispatch(made, x, kSlice);
    CHECK(fake->waited == std::vector{1, 2});
    CHECK(fake->executed.size() == 3 * kSlice);
    made.stream.synchronize();
    CHECK(fake->executed.size() == 3 * kSlice);
}

TEST_CASE("work that cannot be submitted for lack of memory keeps its place, and runs once", "[vulkan][stream]") {
    FakeLoader fake({.devices = 1, .opens = true});
    Streamed made(0);
    const Tensor x = made.tensor();
    std::array<std::byte, 16> bytes{};
    const auto recording = made.stream.record([&] { dispatch(made, x, 2 * kSlice); });
    fake->refusals = 1000;
    Executed expected;
    const auto expect = [&](const Executed& more) { expected.insert(expected.end(), more.begin(), more.end()); };
    // None of these allocates, waits or throws: a sequence that has begun is not left incomplete.
    dispatch(made, x, 7 * kSlice);
    expect(dispatched(7 * kSlice));
    made.stream.launch(recording);
    expect(dispatched(2 * kSlice));
    made.stream.dispatch({.kernel = Kernel::Fill, .groups = 3, .work_per_group = SliceSize::kLeast}, FillParams{},
                         {.out = x});
    expect({"dispatch 1", "dispatch 1", "dispatch 1"});
    const Stream::Mark mark = made.stream.mark();
    made.stream.fill(x, 9);
    expect({"fill 9"});

    CHECK_THROWS_AS(made.stream.download(x, bytes.data(), bytes.size()), OutOfMemory);
    expect({"copy 16"});
    CHECK(fake->executed.empty());
    fake->refusals = 0;
    CHECK_NOTHROW(made.stream.require_submitted());
    CHECK(made.stream.reached(mark));
    made.dispatch_fill(x, 5);
    expect({"dispatch 5"});
    made.stream.upload(x, bytes.data(), bytes.size());
    expect({"copy 16"});
    made.stream.synchronize();
    CHECK(fake->executed == expected);
}

TEST_CASE(
    "where the host waits or asks for memory it is told that there is none to submit work, and then that the device "
    "is lost",
    "[vulkan][stream]") {
    std::array<std::byte, 16> bytes{};
    using Ask = void (*)(Streamed&, const Tensor&, std::array<std::byte, 16>&, const Stream::Mark&);
    const Ask kAsks[] = {
        [](Streamed& made, auto&, auto&, auto&) { made.stream.synchronize(); },
        [](Streamed& made, auto& x, auto& host, auto&) { made.stream.upload(x, host.data(), host.size()); },
        [](Streamed& made, auto& x, auto& host, auto&) { made.stream.download(x, host.data(), host.size()); },
        [](Streamed& made, auto&, auto&, auto& mark) { made.stream.reached(mark); },
        [](Streamed& made, auto&, auto&, auto& mark) { made.stream.wait_for(mark); },
        [](Streamed& made, auto&, auto&, auto&) { made.stream.require_submitted(); },
    };
    for (const Ask ask : kAsks) {
        FakeLoader fake({.devices = 1, .opens = true});
        Streamed made(0);
        const Tensor x = made.tensor();
        fake->refusals = 1000;
        dispatch(made, x, kSlice);
        const Stream::Mark mark = made.stream.mark();
        CHECK_THROWS_MATCHES(
            ask(made, x, bytes, mark), OutOfMemory,
            Catch::Message("out of memory on vulkan:0 (fake 0): the driver cannot submit work (vkQueueSubmit failed "
                           "with VK_ERROR_OUT_OF_DEVICE_MEMORY (-2)) with 0.0 MiB in use; use smaller batches or a "
                           "smaller model, or --device cpu"));
        CHECK_NOTHROW(made.stream.fill(x, 1));
        CHECK_THROWS_AS(ask(made, x, bytes, mark), DeviceLost);
        fake->refusals = 0;
        CHECK_THROWS_AS(made.stream.fill(x, 2), DeviceLost);
        CHECK_THROWS_WITH(made.stream.synchronize(), Catch::Contains("also after all else was let go of"));
        CHECK(fake->executed.empty());
    }
}

TEST_CASE("a recording that fails for lack of memory can be retried", "[vulkan][stream]") {
    FakeLoader fake({.devices = 1, .opens = true});
    Streamed made(0);
    const Tensor x = made.tensor();
    fake->refusals = 1000;
    dispatch(made, x, kSlice);
    CHECK_THROWS_AS(made.stream.record([&] { made.stream.require_submitted(); }), OutOfMemory);
    CHECK_THROWS_AS(made.stream.require_submitted(), OutOfMemory);
    fake->refusals = 0;
    made.stream.synchronize();
    CHECK(fake->executed == dispatched(kSlice));
}

TEST_CASE("without memory to submit, empty blocks are returned, except those that pending work touches",
          "[vulkan][stream]") {
    FakeLoader fake({.devices = 2, .opens = true});
    const std::unique_ptr<Backend> backend = open_vulkan_device(0);
    const Tensor x = backend->empty({4}, DType::F32);
    {
        const Tensor done = backend->empty(mebibytes(200), DType::F32);
        backend->run(Fill{done, 1.0F});
        backend->synchronize();
        const Tensor waits = backend->empty(mebibytes(300), DType::F32);
        backend->run(Fill{waits, 2.0F});
    }
    fake->most_resident = 300 * kMiB;
    const std::size_t before = fake->executed.size();
    CHECK_THROWS_AS(backend->synchronize(), OutOfMemory);
    CHECK(fake->executed.size() == before);
    CHECK(fake->allocated >= 364 * kMiB);  // the block of small tensors and the one that is awaited
    CHECK(fake->allocated < 400 * kMiB);
    CHECK_NOTHROW(backend->run(Fill{x, 3.0F}));
    fake->most_resident = 400 * kMiB;  // as if another program ended
    CHECK_NOTHROW(backend->empty({4}, DType::F32));
    backend->synchronize();
    CHECK(fake->executed.size() > before + 1);
}

TEST_CASE("without room for more unsubmitted work, existing work keeps its place", "[vulkan][stream]") {
    FakeLoader fake({.devices = 1, .opens = true, .most_fences = 4});
    Streamed made(0);
    const Tensor x = made.tensor();
    fake->refusals = 1000;
    dispatch(made, x, 4 * kSlice);
    for (int time = 0; time < 2; ++time) {
        CHECK_THROWS_WITH(made.stream.mark(), Catch::Contains("vkCreateFence"));
    }
    fake->refusals = 0;
    made.stream.synchronize();
    CHECK_NOTHROW(made.stream.mark());
    CHECK(fake->executed == dispatched(4 * kSlice));
}

TEST_CASE("work without memory to record is recorded once earlier work is done", "[vulkan][stream]") {
    FakeLoader fake({.devices = 1, .opens = true});
    Streamed made(0);
    const Tensor x = made.tensor();
    dispatch(made, x, kSlice);
    fake->beginning = {VK_ERROR_OUT_OF_DEVICE_MEMORY};
    made.dispatch_fill(x, 3);
    CHECK(fake->waited == std::vector{1});
    made.stream.synchronize();
    CHECK(fake->executed.back() == "dispatch 3");
    CHECK(fake->executed.size() == kSlice + 1);
}

TEST_CASE("a driver out of memory has lost the device, and a fresh one may work", "[vulkan][stream]") {
    std::array<std::byte, 16> bytes{};
    const VkResult result = GENERATE(VK_ERROR_OUT_OF_DEVICE_MEMORY, VK_ERROR_OUT_OF_HOST_MEMORY);
    const auto begins = [&](FakeLoader& fake) { fake->beginning = {result, result}; };
    struct Lack {
        const char* call;
        std::function<void(FakeLoader&)> begin;
        std::function<void(Streamed&, const Tensor&)> ask;
    };
    const Lack kLacks[] = {
        {"vkBeginCommandBuffer", begins, [](Streamed& made, auto& x) { made.dispatch_fill(x, 1); }},
        {"vkBeginCommandBuffer", begins, [&](Streamed& made, auto& x) { made.stream.upload(x, bytes.data(), 16); }},
        {"vkBeginCommandBuffer", begins, [&](Streamed& made, auto& x) { made.stream.download(x, bytes.data(), 16); }},
        {"vkBeginCommandBuffer", begins, [](Streamed& made, auto&) { made.stream.mark(); }},
        {"vkEndCommandBuffer", [&](FakeLoader& fake) { fake->ending = result; },
         [](Streamed& made, auto& x) {
             made.dispatch_fill(x, 1);
             made.stream.synchronize();
         }},
        {"vkWaitForFences", [&](FakeLoader& fake) { fake->waiting = result; },
         [](Streamed& made, auto& x) {
             made.dispatch_fill(x, 1);
             made.stream.synchronize();
         }},
        {"vkCreateDescriptorPool", [&](FakeLoader& fake) { fake->making_pools = result; },
         [](Streamed& made, auto& x) { made.dispatch_fill(x, 1); }},
        {"vkAllocateDescriptorSets", [&](FakeLoader& fake) { fake->allocating_sets = result; },
         [](Streamed& made, auto& x) { made.dispatch_fill(x, 1); }},
        {"vkCreateBufferView", [&](FakeLoader& fake) { fake->viewing = result; },
         [](Streamed& made, auto& x) {
             Launch reads_texels{.kernel = Kernel::AddScaled, .groups = 1};
             reads_texels.specialisation.texels = true;
             made.stream.dispatch(reads_texels, AddScaledParams{}, {.a = x, .b = x, .out = x});
         }},
    };
    const auto loads_texels = [](VkPhysicalDeviceLimits& limits) {
        limits.maxTexelBufferElements = limits.maxStorageBufferRange / 16;
    };
    for (const Lack& lack : kLacks) {
        FakeLoader fake({.devices = 1, .bend = loads_texels, .opens = true});
        Streamed made(0);
        const Tensor x = made.tensor();
        lack.begin(fake);
        CHECK_THROWS_MATCHES(
            lack.ask(made, x), DeviceLost,
            Catch::Message("out of memory on vulkan:0 (fake 0): the driver has no memory for its own part: " +
                           std::string(lack.call) + " failed with " + name_of(result) +
                           "; end other programs that use it, use smaller batches or a smaller model, or --device "
                           "cpu"));
        fake->beginning.clear();
        fake->ending = fake->waiting = VK_SUCCESS;
        fake->making_pools = fake->allocating_sets = fake->viewing = VK_SUCCESS;
        CHECK_THROWS_AS(made.stream.fill(x, 2), DeviceLost);
        CHECK_THROWS_AS(made.stream.synchronize(), DeviceLost);
    }
}

TEST_CASE("a driver out of memory to compile names the kernel, and has lost the device", "[vulkan][stream]") {
    for (const unsigned threads : {0U, 1U}) {
        FakeLoader fake({.devices = 1, .opens = true, .fails_to_compile = 1, .compiling = VK_ERROR_OUT_OF_HOST_MEMORY});
        Streamed made(threads);
        const Tensor x = made.tensor();
        const auto ask = [&] {
            made.dispatch_fill(x, 1);
            made.stream.synchronize();
        };
        CHECK_THROWS_AS(ask(), DeviceLost);
        CHECK_THROWS_WITH(ask(),
                          Catch::Contains("vkCreateComputePipelines failed with VK_ERROR_OUT_OF_HOST_MEMORY (-1) "
                                          "for the kernel fill"));
    }
}

TEST_CASE("unsubmitted work awaits all its blocks", "[vulkan][stream]") {
    FakeLoader fake({.devices = 1, .opens = true});
    Streamed made(0);
    constexpr std::int64_t kBlock = std::int64_t{17} << 20U;  // elements: more than there is room for beside another
    const Tensor x = made.tensor(kBlock);
    const Tensor y = made.tensor(kBlock);
    const Tensor z = made.tensor(kBlock);
    const auto awaits = [&](const Tensor& tensor) { return made.stream.awaits(binding_of(tensor, 1).block); };
    const auto recording = made.stream.record([&] { made.stream.fill(x, 1); });
    fake->refusals = 1000;
    made.stream.launch(recording);
    made.dispatch_fill(y, 2);
    made.stream.finish();
    CHECK(awaits(x));
    CHECK(awaits(y));
    CHECK_FALSE(awaits(z));
    fake->refusals = 0;
    made.stream.finish();
    CHECK_FALSE(awaits(x));
    CHECK_FALSE(awaits(y));
}

TEST_CASE("a download that could not be submitted and the next one do not write to the same buffer at once",
          "[vulkan][stream]") {
    FakeLoader fake({.devices = 1, .opens = true, .notes_barriers = true});
    Streamed made(0);
    const Tensor x = made.tensor();
    std::array<std::byte, 16> bytes{};
    fake->refusals = 1000;
    CHECK_THROWS_AS(made.stream.download(x, bytes.data(), bytes.size()), OutOfMemory);
    fake->refusals = 0;
    made.stream.download(x, bytes.data(), bytes.size());
    // The second of the barriers between them; the others are for the host.
    CHECK(fake->executed == Executed{"copy 16", "barrier", "barrier", "copy 16", "barrier"});
}

TEST_CASE("a batch that cannot be submitted is dropped, and a smaller one runs", "[vulkan][stream]") {
    FakeLoader fake({.devices = 2, .opens = true});
    const std::unique_ptr<Backend> backend = open_vulkan_device(0);
    fake->most_resident = 300 * kMiB;
    const auto batch = [&](std::int64_t size) {
        const Tensor first = backend->empty(mebibytes(size), DType::F32);
        backend->run(Fill{first, 1.0F});
        backend->synchronize();
        const Tensor second = backend->empty(mebibytes(size), DType::F32);
        for (std::uint64_t each = 0; each < kSlice; ++each) {
            backend->run(Fill{second, 1.0F});
        }
        const Tensor third = backend->empty(mebibytes(size), DType::F32);
        backend->run(Fill{third, 1.0F});
        backend->synchronize();
    };
    CHECK_THROWS_AS(batch(200), OutOfMemory);
    CHECK_NOTHROW(batch(80));
    CHECK(fake->executed.size() > 2 * kSlice);  // nothing was dropped
}

TEST_CASE("objects that fail while they are created leak nothing", "[vulkan][stream]") {
    {
        FakeLoader fake({.devices = 1, .opens = true, .lacks = "vkEnumeratePhysicalDevices"});
        CHECK_THROWS_WITH(Instance(false), Catch::Contains("vkEnumeratePhysicalDevices"));
    }
    {
        FakeLoader fake({.devices = 1, .opens = true, .lacks = "vkQueueSubmit"});
        CHECK_THROWS_WITH(Streamed(0), Catch::Contains("vkQueueSubmit"));
        CHECK(fake->devices_live == 0);
    }
    FakeLoader fake({.devices = 1, .opens = true, .most_fences = 2});
    CHECK_THROWS_WITH(Streamed(0), Catch::Contains("vkCreateFence"));
    CHECK(fake->fences_live == 0);
    CHECK(fake->command_pools_live == 0);
}
