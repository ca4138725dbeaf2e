#include <unistd.h>

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <future>

#include "backends/vulkan/device/cache_file.h"
#include "backends/vulkan/stream/pipeline_cache.h"
#include "backends/vulkan/stream/pipeline_workers.h"
#include "backends/vulkan/stream/pipelines.h"
#include "environment.h"
#include "fake_loader.h"

using namespace headscope::vulkan;
using headscope::vulkan_tests::FakeLoader;
using headscope::vulkan_tests::usable_device;
namespace fs = std::filesystem;

namespace {

struct Folder {
    fs::path path = fs::temp_directory_path() / ("headscope-cache-" + std::to_string(getpid()));
    Folder() { fs::remove_all(path); }
    ~Folder() { fs::remove_all(path); }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
};

std::vector<std::byte> some_bytes() {
    std::vector<std::byte> bytes(1000);
    for (std::size_t index = 0; index < bytes.size(); ++index) {
        bytes[index] = static_cast<std::byte>(index * 7);
    }
    return bytes;
}

// One start of a program: the device, some kernels, and the cache that it leaves.
struct Start {
    CacheUse use;
    std::string file;
};

Start start(const fs::path& folder) {
    const Options options;
    const auto instance = std::make_shared<const Instance>(false);
    const VkPhysicalDevice physical = instance->devices().at(0);
    const Device device(instance, physical, probe(instance->functions(), physical, 0, options));
    Pipelines pipelines(device, folder.string(), 2);
    for (const Kernel kernel : {Kernel::Fill, Kernel::Copy, Kernel::GatherRows}) {
        REQUIRE(pipelines.get(kernel, {}).handle() != VK_NULL_HANDLE);
        REQUIRE(pipelines.get(kernel, {}).handle() != VK_NULL_HANDLE);
    }
    return {pipelines.cache_use(), cache_file_path(device.capabilities(), folder.string(), "pipelines")};
}

}  // namespace

TEST_CASE("a second start uses the first one's cache", "[vulkan][cache]") {
    if (!usable_device()) {
        return;
    }
    const Folder folder;
    const Start first = start(folder.path);
    CHECK(first.use.loaded_bytes == 0);
    CHECK(first.use.created == 3);
    const std::size_t kept = read_pipeline_cache(first.file).size();
    REQUIRE(kept >= sizeof(VkPipelineCacheHeaderVersionOne));
    const Start second = start(folder.path);
    CHECK(second.use.loaded_bytes == kept);
    // SwiftShader adds another header to the data that it gets.
    const bool adds_header = list_vulkan_devices()[0].name.starts_with("SwiftShader");
    CHECK(second.use.held_bytes == kept + (adds_header ? sizeof(VkPipelineCacheHeaderVersionOne) : 0));
    CHECK(second.use.created == 3);
    CHECK(read_pipeline_cache(second.file).size() == kept);
}

TEST_CASE("a second start compiles nothing that the first one compiled", "[vulkan][cache]") {
    FakeLoader fake({.devices = 1, .opens = true});
    const Folder folder;
    const Start first = start(folder.path);
    CHECK(first.use.found == 0);
    CHECK(first.use.created == 3);
    const Start second = start(folder.path);
    CHECK(second.use.loaded_bytes > sizeof(VkPipelineCacheHeaderVersionOne));
    CHECK(second.use.held_bytes == second.use.loaded_bytes);
    CHECK(second.use.found == 3);
    CHECK(second.use.created == 3);
    fs::remove(second.file);
    CHECK(start(folder.path).use.found == 0);
}

TEST_CASE("a start that compiles nothing new does not write the file, however the driver counts", "[vulkan][cache]") {
    FakeLoader fake({.devices = 1, .opens = true, .longer_cache = true});
    const Folder folder;
    const std::size_t kept = read_pipeline_cache(start(folder.path).file).size();
    REQUIRE(kept > sizeof(VkPipelineCacheHeaderVersionOne));
    const Start second = start(folder.path);
    CHECK(second.use.held_bytes > kept);
    CHECK(second.use.found == 3);
    CHECK(read_pipeline_cache(second.file).size() == kept);
}

namespace {

// Requested before the first is waited for.
constexpr std::array kAsked{Kernel::Fill, Kernel::Copy, Kernel::GatherRows, Kernel::Adam};

struct FakeDevice {
    std::shared_ptr<const Instance> instance = std::make_shared<const Instance>(false);
    VkPhysicalDevice physical = instance->devices().at(0);
    Device device{instance, physical, probe(instance->functions(), physical, 0, Options())};
};

}  // namespace

TEST_CASE("pipelines are compiled in parallel, or one by one on request", "[vulkan][cache]") {
    for (const int threads : {3, 0}) {
        FakeLoader fake({.devices = 1, .opens = true, .meet = std::max(threads, 1)});
        {
            const FakeDevice made;
            Pipelines pipelines(made.device, "", static_cast<unsigned>(threads));
            for (const Kernel kernel : kAsked) {
                const Pipeline& pipeline = pipelines.get(kernel, {});
                CHECK((threads > 0 || pipeline.ready()));
            }
            for (const Kernel kernel : kAsked) {
                CHECK(pipelines.get(kernel, {}).handle() != VK_NULL_HANDLE);
            }
            CHECK(pipelines.cache_use().created == 4);
            CHECK(fake->most_at_once == std::max(threads, 1));
            CHECK(fake->pipelines_live == 4);
        }
        CHECK(fake->pipelines_live == 0);
    }
}

TEST_CASE("a kernel that cannot be compiled is an Error each time it is waited for", "[vulkan][cache]") {
    for (const unsigned threads : {2U, 0U}) {
        FakeLoader fake({.devices = 1, .opens = true, .fails_to_compile = 1});
        {
            const FakeDevice made;
            Pipelines pipelines(made.device, "", threads);
            const Pipeline& wrong = pipelines.get(Kernel::Fill, {});
            wrong.compiled.wait();
            const Pipeline& right = pipelines.get(Kernel::Copy, {});
            CHECK(right.handle() != VK_NULL_HANDLE);
            CHECK_THROWS_WITH(wrong.handle(), Catch::Contains("cannot compile the kernel fill"));
            CHECK_THROWS_WITH(pipelines.get(Kernel::Fill, {}).handle(), Catch::Contains("the kernel fill"));
        }
        CHECK(fake->pipelines_live == 0);
    }
}

TEST_CASE("a thread is started only if no other is free", "[vulkan][cache]") {
    const auto threads = [] {
        return std::distance(fs::directory_iterator("/proc/self/task"), fs::directory_iterator());
    };
    const auto before = threads();
    std::promise<void> go;
    const std::shared_future<void> gone = go.get_future().share();
    PipelineWorkers workers(2);
    for (const int wanted : {1, 2, 2}) {
        workers.add([gone] { gone.wait(); });
        CHECK(threads() - before == wanted);
    }
    go.set_value();
}

TEST_CASE("pipelines that nobody waits for are dropped", "[vulkan][cache]") {
    FakeLoader fake({.devices = 1, .opens = true});
    {
        const FakeDevice made;
        Pipelines pipelines(made.device, "", 1);
        for (const Kernel kernel : kAsked) {
            pipelines.get(kernel, {});
        }
    }
    CHECK(fake->pipelines_live == 0);
}

TEST_CASE("the cache of another device or driver is ignored and replaced", "[vulkan][cache]") {
    if (!usable_device()) {
        return;
    }
    const Folder folder;
    const Start first = start(folder.path);
    const std::vector<std::byte> own = read_pipeline_cache(first.file);
    for (const std::size_t at :
         {offsetof(VkPipelineCacheHeaderVersionOne, headerVersion), offsetof(VkPipelineCacheHeaderVersionOne, vendorID),
          offsetof(VkPipelineCacheHeaderVersionOne, deviceID),
          offsetof(VkPipelineCacheHeaderVersionOne, pipelineCacheUUID) + VK_UUID_SIZE - 1}) {
        INFO("byte " << at);
        std::vector<std::byte> foreign = own;
        foreign.at(at) ^= std::byte{1};
        REQUIRE(write_pipeline_cache(first.file, foreign));
        CHECK(start(folder.path).use.loaded_bytes == 0);
        CHECK(read_pipeline_cache(first.file).size() == own.size());
        CHECK(start(folder.path).use.loaded_bytes == own.size());
    }
    REQUIRE(write_pipeline_cache(first.file, {own.begin(), own.begin() + 31}));
    CHECK(start(folder.path).use.loaded_bytes == 0);
}

TEST_CASE("a pipeline cache is read as it was written, without temporary files", "[vulkan][cache]") {
    const Folder folder;
    const std::string path = folder.path / "deep" / "cache";
    CHECK(read_pipeline_cache(path).empty());
    REQUIRE(write_pipeline_cache(path, some_bytes()));
    CHECK(read_pipeline_cache(path) == some_bytes());
    CHECK(std::distance(fs::directory_iterator(folder.path / "deep"), {}) == 1);
}

TEST_CASE("a damaged, truncated or foreign pipeline cache is ignored", "[vulkan][cache]") {
    const Folder folder;
    const std::string path = folder.path / "cache";
    REQUIRE(write_pipeline_cache(path, some_bytes()));
    const auto size = static_cast<std::streamoff>(fs::file_size(path));
    for (const std::streamoff at : {std::streamoff{0}, std::streamoff{9}, std::streamoff{17}, size / 2, size - 1}) {
        REQUIRE(write_pipeline_cache(path, some_bytes()));
        {
            std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
            file.seekg(at);
            const char changed = static_cast<char>(file.get() ^ 0x10);
            file.seekp(at);
            file.put(changed);
        }
        CHECK(read_pipeline_cache(path).empty());
    }
    REQUIRE(write_pipeline_cache(path, some_bytes()));
    fs::resize_file(path, static_cast<std::uintmax_t>(size - 1));
    CHECK(read_pipeline_cache(path).empty());
    fs::resize_file(path, 3);
    CHECK(read_pipeline_cache(path).empty());
}

TEST_CASE("a pipeline cache that cannot be written leaves no files", "[vulkan][cache]") {
    const Folder folder;
    fs::create_directories(folder.path);
    std::ofstream(folder.path / "file") << "not a folder";
    CHECK_FALSE(write_pipeline_cache(folder.path / "file" / "cache", some_bytes()));
    CHECK(cache_file_path({}, "", "pipelines").empty());
}
