// The device memory that the backend takes and returns.
#include "backends/vulkan/stream/memory.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <vector>

#include "backend/ops/elementwise.h"
#include "backends/vulkan/device/memory_limit.h"
#include "backends/vulkan/vulkan_backend.h"
#include "environment.h"
#include "fake_loader.h"
#include "support/check.h"

using namespace headscope;
using namespace headscope::vulkan;
using headscope::vulkan_tests::Environment;
using headscope::vulkan_tests::FakeLoader;
using headscope::vulkan_tests::usable_device;

namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20U;

// The shape of an F32 tensor of `count` MiB.
Shape mebibytes(std::int64_t count) {
    return {count, std::int64_t{1} << 18U};
}

}  // namespace

TEST_CASE("the limit is the least of driver, device and user", "[vulkan][memory]") {
    const Heap gpu{.size = 1000 * kMiB};
    CHECK(memory_limit(gpu, 300, 0).bytes == 872 * kMiB);  // the driver has the rest
    CHECK(memory_limit(gpu, 300, 0).reason == "the device's memory");
    CHECK(memory_limit(gpu, 300, 700).bytes == 700);
    CHECK(memory_limit(gpu, 300, 700).reason == "HEADSCOPE_VULKAN_MAX_MEMORY");
    CHECK(memory_limit(gpu, 300, 2000 * kMiB).bytes == 872 * kMiB);
    CHECK(memory_limit({.size = 20000 * kMiB}, 0, 0).bytes == 19000 * kMiB);
    CHECK(memory_limit({.size = 256 * kMiB}, 0, 0).bytes == 192 * kMiB);
    // Of 872 the program has 500, 300 of them the backend's.
    const Heap budget{.size = 2000 * kMiB, .budget = 1000 * kMiB, .used = 500 * kMiB};
    CHECK(memory_limit(budget, 300 * kMiB, 0).bytes == 672 * kMiB);
    CHECK(memory_limit(budget, 300 * kMiB, 0).reason == "what the driver leaves to this program now");
    CHECK(memory_limit(budget, 300 * kMiB, 600).bytes == 600);
    // More is used than is left: no more is taken, and nothing is released.
    CHECK(memory_limit({.size = 1000, .budget = 400, .used = 500}, 300, 0).bytes == 300);
    CHECK(memory_limit({.size = 1000, .budget = 400, .used = 0}, 500, 0).bytes == 500);
    // A driver whose budget is less than what is used, and one with meaningless numbers.
    CHECK(memory_limit({.size = 1000 * kMiB, .budget = 1000 * kMiB, .used = 0}, 300 * kMiB, 0).bytes == 872 * kMiB);
    CHECK(memory_limit({.size = 1000 * kMiB, .budget = ~0ULL, .used = 0}, 300 * kMiB, 0).bytes == 872 * kMiB);
    CHECK(memory_limit({.size = 1000 * kMiB, .budget = ~0ULL, .used = ~0ULL}, 300, 0).bytes == 300);
    // A CPU's heap is no limit, unless its driver has a budget.
    CHECK(memory_limit({.size = 1000, .software = true}, 300, 0).bytes == MemoryLimit().bytes);
    CHECK(memory_limit({.size = 1000, .software = true}, 300, 5000).bytes == 5000);
    CHECK(memory_limit({.size = 1000, .budget = 900, .used = 0, .software = true}, 0, 0).bytes == 900);
}

TEST_CASE("beyond the user's limit OutOfMemory names need, limit and advice", "[vulkan][memory]") {
    if (!usable_device()) {
        return;
    }
    const Environment limit("HEADSCOPE_VULKAN_MAX_MEMORY", "8");
    const std::unique_ptr<Backend> backend = open_vulkan_device(0);
    Tensor first = backend->empty(mebibytes(5), DType::F32);
    const Tensor second = backend->empty(mebibytes(3), DType::F32);
    CHECK_THROWS_AS(backend->empty({1}, DType::F32), OutOfMemory);
    CHECK_THROWS_WITH(backend->empty(mebibytes(2), DType::F32),
                      Catch::Contains("asked for 2.0 MiB with 8.0 MiB in use and 8.0 MiB held, and may hold 8.0 MiB "
                                      "(HEADSCOPE_VULKAN_MAX_MEMORY)") &&
                          Catch::Contains("use smaller batches or a smaller model, or --device cpu"));
    first = {};
    const Tensor third = backend->empty(mebibytes(2), DType::F32);
    backend->run(Fill{third, 2.0F});
    CHECK(to_host<float>(*backend, third)[0] == 2.0F);
    CHECK_THROWS_AS(backend->empty(mebibytes(4), DType::F32), OutOfMemory);
    const Environment wrong("HEADSCOPE_VULKAN_MAX_MEMORY", "8 MiB");
    CHECK_THROWS_WITH(open_vulkan_device(0), Catch::Contains("HEADSCOPE_VULKAN_MAX_MEMORY is \"8 MiB\""));
}

TEST_CASE("transfers use memory of empty blocks, and throw OutOfMemory if there are none", "[vulkan][memory]") {
    std::vector<std::byte> host(16);
    for (const VkResult lack :
         {VK_ERROR_OUT_OF_DEVICE_MEMORY, VK_ERROR_OUT_OF_HOST_MEMORY, VK_ERROR_TOO_MANY_OBJECTS}) {
        for (const bool upload : {false, true}) {
            FakeLoader fake({.devices = 2, .opens = true, .refusal = lack});
            const std::unique_ptr<Backend> backend = open_vulkan_device(0);
            const auto transfer = [&](const Tensor& tensor) {
                upload ? backend->upload(tensor, host.data(), host.size())
                       : backend->download(tensor, host.data(), host.size());
            };
            const Tensor small = backend->empty({4}, DType::F32);
            Tensor large = backend->empty(mebibytes(200), DType::F32);
            backend->run(Fill{small, 1.0F});
            fake->most_allocated = fake->allocated;
            CHECK_THROWS_AS(transfer(small), OutOfMemory);
            CHECK_THROWS_WITH(transfer(small), Catch::Contains("the driver has no 4.0 MiB for transfers with 200.0 MiB "
                                                               "in use; use smaller batches"));
            large = {};
            CHECK_NOTHROW(transfer(small));
            CHECK(fake->allocated < 100 * kMiB);
            backend->synchronize();
            CHECK(std::count(fake->executed.begin(), fake->executed.end(), "copy 16") == 1);
        }
    }
    FakeLoader fake({.devices = 2, .opens = true, .mapping = VK_ERROR_MEMORY_MAP_FAILED});
    const std::unique_ptr<Backend> backend = open_vulkan_device(0);
    const Tensor small = backend->empty({4}, DType::F32);
    CHECK_THROWS_AS(backend->upload(small, host.data(), host.size()), OutOfMemory);
    CHECK_THROWS_AS(backend->download(small, host.data(), host.size()), OutOfMemory);
}

TEST_CASE("too many driver allocations are OutOfMemory", "[vulkan][memory]") {
    FakeLoader fake({.devices = 2, .opens = true, .refusal = VK_ERROR_TOO_MANY_OBJECTS});
    const std::unique_ptr<Backend> backend = open_vulkan_device(0);
    fake->most_allocated = 100 * kMiB;
    CHECK_THROWS_AS(backend->empty(mebibytes(200), DType::F32), OutOfMemory);
    CHECK_NOTHROW(backend->empty(mebibytes(50), DType::F32));
}

TEST_CASE("empty blocks beyond recent use are returned, and memory shared by steps stays", "[vulkan][memory]") {
    if (!usable_device()) {
        return;
    }
    const auto instance = std::make_shared<const Instance>(false);
    const VkPhysicalDevice physical = instance->devices().at(0);
    const Device device(instance, physical, probe(instance->functions(), physical, 0, Options()));
    const auto memory = std::make_shared<Memory>(device);
    const auto kept = memory->allocate(kMiB);
    // A step takes 200 MiB and frees it; as long as steps repeat, nothing is returned.
    for (int step = 0; step < 600; ++step) {
        { const auto large = memory->allocate(200 * kMiB); }
        memory->trim();
        CHECK(memory->held() == 264 * kMiB);
    }
    // Then no step does.
    int calls = 0;
    while (memory->held() > 64 * kMiB && calls < 2000) {
        memory->trim();
        ++calls;
    }
    CHECK(memory->held() == 64 * kMiB);
    CHECK(calls > 256);
    CHECK(memory->use().live == kMiB);
    const auto again = memory->allocate(200 * kMiB);
    CHECK(memory->held() == 264 * kMiB);
}

TEST_CASE("tensors are in the largest heap that buffers can use, which is the reported one", "[vulkan][memory]") {
    struct Found {
        std::uint64_t told, heap;
        std::uint32_t types;
        bool operator==(const Found&) const = default;
    };
    const auto find = [](std::uint64_t first, std::uint64_t second, std::uint32_t buffer_types,
                         bool integrated = false) {
        FakeLoader fake({.devices = 2, .opens = true, .integrated = integrated});
        fake->heaps[0] = first;
        fake->heaps[1] = second;
        fake->buffer_types = buffer_types;
        const auto instance = std::make_shared<const Instance>(false);
        const VkPhysicalDevice physical = instance->devices().at(0);  // the GPU
        const Device device(instance, physical, probe(instance->functions(), physical, 0, Options()));
        const auto memory = std::make_shared<Memory>(device);
        (void)memory->allocate(kMiB);
        return Found{device.info().memory_bytes, device.heap().size, fake->types_allocated};
    };
    CHECK(find(256 * kMiB, 1024 * kMiB, 3) == Found{1024 * kMiB, 1024 * kMiB, 2});
    CHECK(find(1024 * kMiB, 256 * kMiB, 3) == Found{1024 * kMiB, 1024 * kMiB, 1});
    CHECK(find(256 * kMiB, 1024 * kMiB, 1) == Found{256 * kMiB, 256 * kMiB, 1});
    // For a GPU that shares the host's memory, of which only the first heap is device-local.
    CHECK(find(256 * kMiB, 1024 * kMiB, 3, true) == Found{1024 * kMiB, 1024 * kMiB, 2});
    CHECK(find(1024 * kMiB, 1024 * kMiB, 3, true) == Found{1024 * kMiB, 1024 * kMiB, 1});
}
