// Backend::replay by recorded command buffers.
#include <catch2/catch.hpp>

#include "backend/ops/elementwise.h"
#include "backend/ops/matmul.h"
#include "backends/vulkan/vulkan_backend.h"
#include "environment.h"
#include "fake_loader.h"
#include "streamed.h"
#include "support/check.h"
#include "tests/backend/replay_contract.h"

using namespace headscope;
using namespace headscope::vulkan;
using namespace headscope::vulkan_tests;

namespace {

constexpr std::int64_t kMebi = std::int64_t{1} << 20U;

}  // namespace

TEST_CASE("replays fulfil the contract of Backend::replay", "[vulkan][replay]") {
    if (!usable_device()) {
        return;
    }
    // Pushed descriptors are part of the commands; sets belong to pools.
    for (const char* disabled : {"tuning", "push_descriptors", "transfers"}) {
        INFO("without " << disabled);
        const Environment without("HEADSCOPE_VULKAN_DISABLE", disabled);
        const std::unique_ptr<Backend> backend = open_vulkan_device(0);
        replay_contract::launches_what_comes_again(*backend);
        replay_contract::tells_runs_apart(*backend);
        replay_contract::refuses_other_than_ops(*backend);
    }
}

TEST_CASE("sequences of long dispatches are not kept, and none if replays are disabled", "[vulkan][replay]") {
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
            backend->replay("long", [&] {
                ++counted[0];
                backend->run(Matmul{.a = a, .b = a, .out = sums});
            });
            backend->replay("short", [&] {
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

TEST_CASE("without memory for a recording the ops run one by one", "[vulkan][replay]") {
    if (!usable_device()) {
        return;
    }
    const Environment everything("HEADSCOPE_VULKAN_DISABLE", "");
    const Environment limit("HEADSCOPE_VULKAN_MAX_MEMORY", "100");  // a block of 64 MiB, and the rest
    const std::unique_ptr<Backend> backend = open_vulkan_device(0);
    const Tensor x = backend->empty({8}, DType::F32);
    std::int64_t large = 50 * kMebi;
    int calls = 0;
    const auto run = [&] {
        backend->replay("large", [&] {
            ++calls;
            const Tensor activations = backend->empty({large}, DType::I8);
            backend->run(Fill{.out = x, .value = static_cast<float>(calls)});
        });
    };
    for (int i = 0; i < 4; ++i) {
        run();
    }
    CHECK(calls == 6);  // three times the second time: two failed recordings
    CHECK(to_host<float>(*backend, x)[0] == 6.0F);
    large = 20 * kMebi;  // as if something else had freed memory
    for (int i = 0; i < 400; ++i) {
        run();
    }
    CHECK(calls < 300);  // after a while it is recorded
}

TEST_CASE("memory that is needed elsewhere is taken from recordings", "[vulkan][replay]") {
    if (!usable_device()) {
        return;
    }
    const Environment everything("HEADSCOPE_VULKAN_DISABLE", "");
    const Environment limit("HEADSCOPE_VULKAN_MAX_MEMORY", "128");  // two blocks
    const std::unique_ptr<Backend> backend = open_vulkan_device(0);
    const Tensor x = backend->empty({2 * kMebi}, DType::F32);
    int calls = 0;
    const auto run = [&] {
        backend->replay("some", [&] {
            ++calls;
            const Tensor some = backend->empty({kMebi}, DType::F32);
            backend->run(Fill{.out = some, .value = 1.0F});
            backend->run(Fill{.out = x, .value = static_cast<float>(calls)});
        });
    };
    for (int i = 0; i < 4; ++i) {
        run();
    }
    CHECK(calls == 2);
    {
        const Tensor all = backend->empty({60 * kMebi}, DType::I8);
        CHECK(all.defined());
    }
    run();
    CHECK(calls == 3);
    CHECK(to_host<float>(*backend, x)[0] == 3.0F);
}

TEST_CASE("a sequence of long dispatches may take the memory of recordings", "[vulkan][replay]") {
    if (!usable_device()) {
        return;
    }
    const Environment everything("HEADSCOPE_VULKAN_DISABLE", "");
    const Environment limit("HEADSCOPE_VULKAN_MAX_MEMORY", "128");  // two blocks
    const std::unique_ptr<Backend> backend = open_vulkan_device(0);
    const Tensor a = backend->empty({1024, 1024}, DType::F32);
    backend->run(Fill{.out = a, .value = 1.0F});
    for (int run = 0; run < 4; ++run) {
        backend->replay("short", [&] {
            const Tensor some = backend->empty({kMebi}, DType::F32);
            backend->run(Copy{.x = a.reshape({kMebi}), .out = some});
        });
    }
    for (int run = 0; run < 2; ++run) {
        backend->replay("long", [&] {
            const Tensor all = backend->empty({62 * kMebi}, DType::I8);  // more than is left beside them
            const Tensor sums = backend->empty({512, 512}, DType::F32);
            const Tensor part = a.narrow(0, 0, 512).narrow(1, 0, 512);
            backend->run(Matmul{.a = part, .b = part, .out = sums});
            CHECK(all.defined());
        });
    }
    CHECK(to_host<float>(*backend, a)[0] == 1.0F);
}

TEST_CASE("a recording ends with its operands' block", "[vulkan][replay]") {
    if (!usable_device()) {
        return;
    }
    const Environment everything("HEADSCOPE_VULKAN_DISABLE", "");
    const std::unique_ptr<Backend> backend = open_vulkan_device(0);
    const Tensor small = backend->empty({8}, DType::F32);
    int calls = 0;
    const auto run = [&](float value) {
        const Tensor large = backend->empty({200 * kMebi / 4}, DType::F32);
        const Tensor end = large.narrow(0, 0, 8);
        backend->run(Fill{.out = small, .value = value});
        backend->replay("copy", [&] {
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
        backend->synchronize();  // until the empty block is returned
    }
    run(5.0F);  // by its number, and at its place, another block
    CHECK(calls == 3);
}
