// Work whose pipelines are still being compiled, and work that fails, on the fake driver, which logs its queue.
#include "backends/vulkan/stream/stream.h"

#include <catch2/catch.hpp>

#include "backends/vulkan/vulkan_backend.h"
#include "fake_loader.h"
#include "streamed.h"
#include "support/check.h"

using namespace headscope;
using namespace headscope::vulkan;
using namespace headscope::vulkan_tests;

TEST_CASE("work that waits for a pipeline keeps its place, and transfers queue behind it", "[vulkan][stream]") {
    FakeLoader fake({.devices = 1, .opens = true, .compiles_nothing = true});
    Streamed made(2);
    const Tensor x = made.tensor();
    const Tensor y = made.tensor();
    made.dispatch_fill(x, 1);
    made.stream.fill(y, 7);
    made.dispatch_copy(x, y, 2);
    made.stream.copy(x, y);
    made.dispatch_fill(x, 3);
    CHECK(fake->executed.empty());  // none of these calls waited
    let_compile(fake, true);
    made.stream.synchronize();
    CHECK(fake->executed == Executed{"dispatch 1", "fill 7", "dispatch 2", "copy 16", "dispatch 3"});
    made.stream.fill(y, 8);
    made.dispatch_copy(x, y, 4);
    made.stream.synchronize();
    CHECK(fake->executed.size() == 7);
    CHECK(fake->executed[5] == "fill 8");
    CHECK(fake->executed[6] == "dispatch 4");
}

TEST_CASE("kernels over F16 and conversions use the device's conversion if it is right", "[vulkan][half]") {
    FakeLoader fake({.devices = 1, .opens = true});
    Streamed made(0);
    CHECK_FALSE(made.pipelines.converts_halves(Kernel::Copy, DType::F16));
    made.pipelines.convert_halves(true);
    CHECK(made.pipelines.converts_halves(Kernel::Adam, DType::F16));
    CHECK(made.pipelines.converts_halves(Kernel::Convert, DType::F32));  // which gets each tensor's type
    CHECK_FALSE(made.pipelines.converts_halves(Kernel::Adam, DType::BF16));
    CHECK_FALSE(made.pipelines.converts_halves(Kernel::Adam, DType::F32));
}

TEST_CASE("at most some hundred dispatches wait for pipelines", "[vulkan][stream]") {
    FakeLoader fake({.devices = 1, .opens = true, .compiles_nothing = true});
    Streamed made(1);
    const Tensor x = made.tensor();
    for (std::uint64_t groups = 1; groups <= 512; ++groups) {
        made.dispatch_fill(x, groups);
    }
    CHECK(fake->executed.empty());
    let_compile(fake, true);
    made.dispatch_fill(x, 513);
    CHECK(fake->executed.size() == 512);  // eight submissions: this call waited
    made.stream.synchronize();
    REQUIRE(fake->executed.size() == 513);
    for (std::size_t index = 0; index < fake->executed.size(); ++index) {
        CHECK(fake->executed[index] == "dispatch " + std::to_string(index + 1));
    }
}

TEST_CASE("the parts of a launch do not wait for each other, but later work waits for all", "[vulkan][stream]") {
    FakeLoader fake({.devices = 1, .opens = true, .notes_barriers = true});
    {
        Streamed made(0);
        const Tensor a = made.tensor();
        constexpr std::uint64_t kGroups = 25;
        // Workgroups of half a slice each, so that there are many parts and submissions.
        made.stream.dispatch({.kernel = Kernel::Fill, .groups = kGroups, .work_per_group = SliceSize::kLeast / 2},
                             FillParams{}, {.out = a});
        made.stream.synchronize();
        std::uint64_t groups = 0;
        CHECK(fake->executed.size() > 3);
        for (const std::string& what : fake->executed) {
            REQUIRE(what.rfind("dispatch ", 0) == 0);
            groups += std::stoul(what.substr(std::string("dispatch ").size()));
        }
        CHECK(groups == kGroups);
        fake->executed.clear();
        made.dispatch_fill(a, 7);
        made.stream.synchronize();
        CHECK(fake->executed == Executed{"barrier", "dispatch 7"});
    }
}

TEST_CASE("an absent operand is no hazard, whether a kernel would read or write it", "[vulkan][stream]") {
    FakeLoader fake({.devices = 1, .opens = true, .notes_barriers = true});
    Streamed made(0);
    const Tensor logits = made.tensor();
    const Tensor targets = made.tensor();
    const auto dispatch = [&](const Tensor& loss, const Tensor& nll, std::uint64_t groups) {
        made.stream.dispatch({.kernel = Kernel::SmoothedCrossEntropy, .groups = groups}, SmoothedCrossEntropyParams{},
                             {.logits = logits,
                              .targets = targets,
                              .loss = loss,
                              .nll = nll,
                              .grad_logits = Tensor{},
                              .grad_scale = Tensor{},
                              .prior = Tensor{},
                              .weights = Tensor{}});
    };
    const Tensor losses = made.tensor(64);
    const auto part = [&](std::int64_t index) { return losses.narrow(0, 16 * index, 4); };
    dispatch(part(0), part(1), 1);
    dispatch(part(2), part(3), 2);  // would wait if grad_logits took the place of logits or grad_scale that of loss
    dispatch(part(0), part(3), 3);
    made.stream.synchronize();
    CHECK(fake->executed == Executed{"dispatch 1", "dispatch 2", "barrier", "dispatch 3"});
}

TEST_CASE("the parts of a launch wait for each other only under validation", "[vulkan][stream]") {
    const FakeLayer layer;
    for (const bool validates : {false, true}) {
        INFO("validates: " << validates);
        FakeLoader fake({.devices = 1, .opens = true, .layer = &layer, .notes_barriers = true});
        Streamed made(0, 0, validates);
        const Tensor a = made.tensor();
        const Tensor b = made.tensor();
        for (const Tensor* from : {&b, &a}) {  // the second in place
            made.stream.dispatch({.kernel = Kernel::Copy, .groups = 3, .work_per_group = SliceSize::kLeast},
                                 CopyParams{}, {.x = *from, .out = a});
        }
        made.stream.synchronize();
        const Executed parts = validates ? Executed{"dispatch 1", "barrier", "dispatch 1", "barrier", "dispatch 1"}
                                         : Executed{"dispatch 1", "dispatch 1", "dispatch 1"};
        Executed both = parts;
        both.push_back("barrier");
        both.insert(both.end(), parts.begin(), parts.end());
        CHECK(fake->executed == both);
    }
}

TEST_CASE("a stream that ends drops work that still waits for pipelines", "[vulkan][stream]") {
    FakeLoader fake({.devices = 1, .opens = true, .compiles_nothing = true});
    {
        Streamed made(1);
        const Tensor x = made.tensor();
        made.dispatch_fill(x, 1);
        made.stream.fill(x, 7);
        let_compile(fake, true);
    }
    CHECK(fake->pipelines_live == 0);
}

TEST_CASE("after a kernel that does not compile no later work counts as done", "[vulkan][stream]") {
    for (const unsigned threads : {1U, 0U}) {
        INFO(threads << " threads");
        FakeLoader fake({.devices = 1, .opens = true, .fails_to_compile = 1, .compiles_nothing = threads > 0});
        Streamed made(threads);
        const Tensor x = made.tensor();
        const Tensor y = made.tensor();
        const auto says = Catch::Contains("cannot compile the kernel fill");
        if (threads > 0) {
            made.dispatch_fill(x, 1);
            made.dispatch_copy(x, y, 2);  // it would read what was never written
            let_compile(fake, true);
            CHECK_THROWS_WITH(made.stream.synchronize(), says);
        } else {
            CHECK_THROWS_WITH(made.dispatch_fill(x, 1), says);
        }
        std::array<std::byte, 16> bytes{};
        CHECK_THROWS_WITH(made.dispatch_copy(x, y, 3), says);
        CHECK_THROWS_WITH(made.stream.fill(y, 1), says);
        CHECK_THROWS_WITH(made.stream.copy(x, y), says);
        CHECK_THROWS_WITH(made.stream.upload(y, bytes.data(), bytes.size()), says);
        CHECK_THROWS_WITH(made.stream.download(y, bytes.data(), bytes.size()), says);
        CHECK_THROWS_WITH(made.stream.synchronize(), says);
        CHECK_THROWS_WITH(made.stream.mark(), says);
        CHECK(fake->executed.empty());
        Stream again(made.device, made.memory, made.pipelines);  // not affected by the loss
        again.copy(x, y);
        again.synchronize();
        CHECK(fake->executed == Executed{"copy 16"});
    }
}

TEST_CASE("a failed submission is reported from then on, and a lost device stays lost", "[vulkan][stream]") {
    FakeLoader fake({.devices = 1, .opens = true});
    {
        Streamed made(0);
        const Tensor x = made.tensor();
        made.stream.fill(x, 1);
        fake->submitting = VK_ERROR_INITIALIZATION_FAILED;
        CHECK_THROWS_WITH(made.stream.synchronize(), Catch::Contains("vkQueueSubmit"));
        fake->submitting = VK_SUCCESS;
        CHECK_THROWS_WITH(made.stream.synchronize(), Catch::Contains("vkQueueSubmit"));
        CHECK(fake->executed.empty());
    }
    Streamed made(0, 1);
    const Tensor x = made.tensor();
    made.stream.fill(x, 1);
    CHECK_THROWS_AS(made.stream.synchronize(), DeviceLost);
    CHECK_THROWS_AS(made.stream.fill(x, 2), DeviceLost);
    CHECK_THROWS_AS(made.stream.synchronize(), DeviceLost);
}
