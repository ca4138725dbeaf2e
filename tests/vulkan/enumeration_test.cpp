// Which devices are found, and how often drivers are asked, on a loader with fake devices.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>

#include "backends/vulkan/device/device.h"
#include "backends/vulkan/device/driver_advice.h"
#include "backends/vulkan/device/driver_probe.h"
#include "backends/vulkan/device/instance.h"
#include "environment.h"
#include "fake_loader.h"
#include "registry/gpu_possible.h"
#include "registry/registry.h"
#include "support/check.h"
#include "tests/house/open_options.h"
#include "tests/io/temporary_folder.h"

using namespace headscope;
using headscope::vulkan_tests::Environment;
using headscope::vulkan_tests::FakeLoader;
using headscope::vulkan_tests::feature_of;

namespace {

// A machine without CUDA, whatever it has: its one entry precedes Vulkan's.
class NoCuda {
    Environment driver_{"HEADSCOPE_CUDA_DRIVER", "hidden by a test"};
};

std::vector<DeviceInfo> after_cuda() {
    std::vector<DeviceInfo> devices = list_devices(environment_options());
    REQUIRE(devices[0].id == "cuda");
    devices.erase(devices.begin());
    return devices;
}

}  // namespace

TEST_CASE("devices are listed from one instance, GPUs first, and the first GPU is the default", "[vulkan][device]") {
    const FakeLoader fake({.devices = 3});
    const NoCuda no_cuda;  // names a driver, which makes a GPU possible
    const std::vector<DeviceInfo> devices = after_cuda();
    REQUIRE(devices.size() == 4);
    CHECK(devices[0].name == "fake 1");
    CHECK(devices[0].id == "vulkan:0");
    CHECK(devices[1].name == "fake 2");
    CHECK(devices[2].name == "fake 0");
    CHECK(devices[2].software);
    CHECK(devices[3].id == "cpu");
    CHECK(default_device(devices, environment_options().settings) == "vulkan:0");
    CHECK(fake->instances_made == 1);
}

TEST_CASE("NVIDIA's driver is not unloaded", "[vulkan][device]") {
    constexpr std::uint32_t kNvidia = 0x10DE;
    const std::vector<DeviceInfo> real = list_devices(environment_options());
    const bool kept = std::any_of(real.begin(), real.end(), [](const DeviceInfo& device) {
        return device.id.starts_with("vulkan") && device.name.find("NVIDIA") != std::string::npos;
    });
    const FakeLoader fake({.devices = 2, .vendor = kNvidia});
    const NoCuda no_cuda;
    for (int i = 0; i < 3; ++i) {
        after_cuda();
        CHECK(fake->instances_live == (kept ? 0 : 1));
    }
    fake->instances_live = 0;
}

TEST_CASE("a device is found and opened with one instance", "[vulkan][device]") {
    for (const char* wanted : {"", "vulkan", "vulkan:1"}) {
        const FakeLoader fake({.devices = 3});
        const NoCuda no_cuda;
        INFO("\"" << wanted << "\"");
        // The GPU exists and fails: that is an error, not a reason to use the CPU.
        CHECK_THROWS_WITH(open_device(wanted, environment_options()), Catch::Contains("vkCreateDevice"));
        CHECK(fake->instances_made == 1);
    }
}

TEST_CASE("the default device is the CPU if the only GPU is software", "[vulkan][device]") {
    const FakeLoader software({.devices = 1});
    const NoCuda no_cuda;
    CHECK(open_device("", environment_options())->device().id == "cpu");
    CHECK(software->instances_made == 1);
    CHECK(default_device(list_devices(environment_options()), environment_options().settings) == "cpu");
}

TEST_CASE("no driver is asked for the default device if no GPU is possible", "[vulkan][device]") {
    if (gpu_possible(environment_options().settings)) {
        WARN("SKIPPED: this machine may have a GPU");
        return;
    }
    const FakeLoader real({.devices = 2});
    CHECK(open_device("", environment_options())->device().id == "cpu");
    CHECK(real->instances_made == 0);
    CHECK(default_device(list_devices(environment_options()), environment_options().settings) == "cpu");
}

TEST_CASE("a driver that reports invalid values is rejected", "[vulkan][device]") {
    const NoCuda no_cuda;
    const auto reason = [](void (*bend)(VkPhysicalDeviceLimits&), std::uint32_t subgroup_size) {
        const FakeLoader fake({.devices = 1, .bend = bend, .subgroup_size = subgroup_size});
        return after_cuda()[0].rejected;
    };
    CHECK(reason(nullptr, 32).empty());
    CHECK_THAT(reason([](VkPhysicalDeviceLimits& limits) { limits.maxStorageBufferRange = 0; }, 32),
               Catch::Contains("storage buffers of 0 bytes"));
    CHECK_THAT(reason([](VkPhysicalDeviceLimits& limits) { limits.maxComputeWorkGroupCount[0] = 0; }, 32),
               Catch::Contains("0 workgroups a dispatch"));
    CHECK_THAT(reason([](VkPhysicalDeviceLimits& limits) { limits.maxPushConstantsSize = 64; }, 32),
               Catch::Contains("64 bytes of push constants"));
    CHECK_THAT(reason([](VkPhysicalDeviceLimits& limits) { limits.minStorageBufferOffsetAlignment = 0; }, 32),
               Catch::Contains("aligned to 0 bytes"));
    CHECK_THAT(reason(nullptr, 24), Catch::Contains("subgroups of 24 invocations"));
    CHECK_THAT(reason(nullptr, 256), Catch::Contains("subgroups of 256 invocations"));
    CHECK_THAT(reason([](VkPhysicalDeviceLimits& limits) { limits.maxComputeSharedMemorySize = 0; }, 32),
               Catch::Contains("0 bytes of shared memory"));
}

TEST_CASE("texel loads are used on software devices with views as long as bindings, with bounds checks",
          "[vulkan][device]") {
    const auto loads = [](std::uint32_t device, void (*bend)(VkPhysicalDeviceLimits&)) {
        FakeLoader fake({.devices = 2, .bend = bend, .opens = true});
        const auto backend = open_vulkan_device(static_cast<int>(device));
        const std::vector<std::string>& paths = backend->device().paths;
        const bool loads_texels = std::count(paths.begin(), paths.end(), "no-texel-loads") == 1;
        const auto& features = backend->device().features;
        const std::pair<std::string, std::string> said{"texel loads", loads_texels ? "yes" : "no"};
        CHECK(std::count(features.begin(), features.end(), said) == 1);
        CHECK(fake->robust == (loads_texels ? VK_TRUE : VK_FALSE));
        return loads_texels;
    };
    const auto enough = [](VkPhysicalDeviceLimits& limits) {
        limits.maxTexelBufferElements = limits.maxStorageBufferRange / 16;
    };
    const auto too_few = [](VkPhysicalDeviceLimits& limits) {
        limits.maxTexelBufferElements = limits.maxStorageBufferRange / 16 - 1;
    };
    CHECK(loads(1, enough));  // the list begins with what is a GPU
    CHECK_FALSE(loads(1, too_few));
    CHECK_FALSE(loads(0, enough));
}

TEST_CASE("the list has the sizes of cooperative matrices, or what is missing", "[vulkan][device]") {
    const NoCuda no_cuda;
    const auto said = [](const FakeMatrices* matrices, std::uint32_t subgroup_size = 32, bool software = false) {
        const FakeLoader fake({.devices = 2, .subgroup_size = subgroup_size, .matrices = matrices});
        const DeviceInfo device = after_cuda()[software ? 1 : 0];
        const bool has_path = std::count(device.paths.begin(), device.paths.end(), "no-cooperative-matrix") == 1;
        const std::string says = feature_of(device, "cooperative matrices");
        CHECK(has_path == (says.find(" x ") != std::string::npos));
        return says;
    };
    CHECK(said(nullptr) == "no VK_KHR_cooperative_matrix");
    const FakeMatrices has_all;
    CHECK(said(&has_all) == "16 x 8 x 16");
    const auto without = [&](auto member, auto value) {
        FakeMatrices matrices;
        matrices.*member = value;
        return said(&matrices);
    };
    CHECK(without(&FakeMatrices::extension, false) == "no VK_KHR_cooperative_matrix");
    CHECK(without(&FakeMatrices::full_subgroups, false) == "no full subgroups");
    CHECK(without(&FakeMatrices::feature, VK_FALSE) == "no cooperativeMatrix");
    CHECK(without(&FakeMatrices::float16, VK_FALSE) == "no shaderFloat16");
    CHECK(without(&FakeMatrices::memory_model, VK_FALSE) == "no vulkanMemoryModel");
    CHECK(without(&FakeMatrices::rounds_to_nearest, VK_FALSE) == "no rounding to nearest in F16");
    CHECK(without(&FakeMatrices::stages, VK_SHADER_STAGE_FRAGMENT_BIT) == "none in compute shaders");
    CHECK(without(&FakeMatrices::sum, VK_COMPONENT_TYPE_FLOAT16_KHR) ==
          "no F16 matrices with F32 sums that fit a tile");
    CHECK(said(&has_all, 128) == "16 x 8 x 16");
    CHECK(said(&has_all, 8, true) == "16 x 8 x 16");
    CHECK(said(&has_all, 16, true) == "none in software for subgroups of 16");
    {
        const FakeLoader intel(
            {.devices = 2, .subgroup_size = 32, .least_subgroup = 8, .most_subgroup = 32, .matrices = &has_all});
        const auto features = after_cuda()[0].features;
        CHECK(std::any_of(features.begin(), features.end(), [](const auto& feature) {
            return feature.first == "cooperative matrices" && feature.second.rfind("not used where", 0) == 0;
        }));
    }
    for (const VkDriverId driver : {VK_DRIVER_ID_AMD_PROPRIETARY, VK_DRIVER_ID_AMD_OPEN_SOURCE}) {
        FakeMatrices amd{.driver = driver};
        CHECK(said(&amd) == "not used where AMD's driver takes them apart: no matrix cores");
        amd.mixed_dot_products = VK_TRUE;  // RDNA3
        CHECK(said(&amd) == "16 x 8 x 16");
        amd.dot_products = false;
        CHECK_THAT(said(&amd), Catch::StartsWith("not used where AMD's driver"));
    }
    FakeMatrices odd;
    odd.sizes[1][0] = 24;
    CHECK(said(&odd) == "8 x 8 x 16");
    const Environment disable("HEADSCOPE_VULKAN_DISABLE", "cooperative_matrix");
    const FakeLoader fake({.devices = 2, .matrices = &has_all});
    CHECK(feature_of(after_cuda()[0], "cooperative matrices") == "switched off");
}

TEST_CASE("the list has the sizes of cooperative matrices in BF16, or what is missing", "[vulkan][device]") {
    const NoCuda no_cuda;
    const auto said = [](const FakeMatrices& matrices) {
        const FakeLoader fake({.devices = 2, .matrices = &matrices});
        return feature_of(after_cuda()[0], "cooperative matrices in BF16");
    };
    CHECK(said({}) == "16 x 8 x 16");
    CHECK(said({.float16 = VK_FALSE}) == "none in F16");
    CHECK(said({.bfloat16 = false}) == "no VK_KHR_shader_bfloat16");
    CHECK(said({.bfloat16_type = VK_FALSE}) == "no shaderBFloat16CooperativeMatrix");
    CHECK(said({.bfloat16_matrices = VK_FALSE}) == "no shaderBFloat16CooperativeMatrix");
    CHECK(said({.bfloat16_sum = VK_COMPONENT_TYPE_FLOAT16_KHR}) == "no BF16 matrices with F32 sums that fit a tile");
    for (const char* word : {"bf16_matrix", "cooperative_matrix", "subgroups"}) {
        const Environment disable("HEADSCOPE_VULKAN_DISABLE", word);
        CHECK(said({}) == "switched off");
    }
}

TEST_CASE("a device with matrices in BF16 is opened with their extension and features", "[vulkan][device]") {
    const auto asked_for = [](const FakeMatrices& matrices, const char* word = "") {
        FakeLoader fake({.devices = 2, .opens = true, .matrices = &matrices});
        const Environment disable("HEADSCOPE_VULKAN_DISABLE", std::string("trials,") + word);
        (void)open_vulkan_device(0);
        const bool enabled = std::count(fake->enabled.begin(), fake->enabled.end(), "VK_KHR_shader_bfloat16") == 1;
        CHECK(std::count(fake->enabled.begin(), fake->enabled.end(), "VK_KHR_cooperative_matrix") == 1);
        CHECK(fake->matrices_in_bf16 == enabled);
        return enabled;
    };
    CHECK(asked_for({}));
    CHECK_FALSE(asked_for({.bfloat16 = false}));
    CHECK_FALSE(asked_for({.bfloat16_matrices = VK_FALSE}));
    CHECK_FALSE(asked_for({}, "bf16_matrix"));
}

TEST_CASE("the list says whether attention is computed by matrices", "[vulkan][device]") {
    const NoCuda no_cuda;
    const auto said = [](const FakeMatrices* matrices, const char* disabled = "") {
        const FakeLoader fake({.devices = 2, .matrices = matrices});
        const Environment disable("HEADSCOPE_VULKAN_DISABLE", disabled);
        return feature_of(after_cuda()[0], "attention by matrices");
    };
    const FakeMatrices usual;
    CHECK(said(nullptr) == "no");
    CHECK(said(&usual) == "yes, in F16");
    for (const char* word : {"cooperative_attention", "fused_attention", "cooperative_matrix", "subgroups"}) {
        CHECK(said(&usual, word) == "switched off");
        CHECK(said(nullptr, word) == "no");
    }
    FakeMatrices deep;
    deep.sizes[0][2] = 32;
    deep.sizes[1][2] = 32;
    CHECK(said(&deep) == "no");
    CHECK(said(&deep, "fused_attention") == "no");
    const Environment emulate("HEADSCOPE_VULKAN_EMULATE_MATRICES", "1");
    CHECK(said(nullptr) == "emulated, in F16");
    CHECK(said(&usual, "cooperative_attention") == "switched off");
}

TEST_CASE("a driver of a Vulkan subset is listed and enabled as such", "[vulkan][device]") {
    for (const bool portability : {false, true}) {
        for (const bool old_loader : {false, true}) {
            FakeLoader fake({.devices = 2, .opens = true, .portability = portability, .old_loader = old_loader});
            REQUIRE(list_vulkan_devices().size() == 2);
            const auto instance = std::make_shared<const vulkan::Instance>(false);
            const VkPhysicalDevice physical = instance->devices().at(0);
            const vulkan::Device device(instance, physical,
                                        vulkan::probe(instance->functions(), physical, 0, vulkan::Options()));
            CHECK(std::count(fake->enabled.begin(), fake->enabled.end(), "VK_KHR_portability_subset") == portability);
        }
    }
}

TEST_CASE("a device that its driver cannot describe is rejected, and hides no other", "[vulkan][device]") {
    const FakeLoader fake({.devices = 3, .opens = true, .cannot_list = 1});
    const std::vector<DeviceInfo> devices = list_vulkan_devices();
    REQUIRE(devices.size() == 3);
    CHECK(devices[0].id == "vulkan:0");
    CHECK(devices[0].name == "fake 1");
    CHECK_THAT(devices[0].rejected,
               Catch::Contains("vkEnumerateDeviceExtensionProperties failed with VK_ERROR_OUT_OF_HOST_MEMORY") &&
                   Catch::Contains("update"));
    CHECK(devices[1].id == "vulkan:1");
    CHECK(devices[1].name == "fake 2");
    CHECK(devices[1].rejected.empty());
    CHECK(open_vulkan_device(1)->device().name == "fake 2");
    CHECK_THROWS_WITH(open_vulkan_device(0), Catch::Contains("vulkan:0 (fake 1) cannot be used"));
}

TEST_CASE("an extension list that grows between calls is read again", "[vulkan][device]") {
    const FakeLoader fake({.devices = 1, .least_subgroup = 8, .most_subgroup = 32, .lists_that_grow = 1});
    const DeviceInfo device = list_vulkan_devices()[0];
    CHECK(device.rejected.empty());
    CHECK(vulkan_tests::limit_of(device, "subgroup size") == "16 of 8 to 32");
    CHECK(fake->lists_that_grow == 0);
}

TEST_CASE("only one thread at a time creates or destroys an instance or device", "[vulkan][device]") {
    FakeLoader fake({.devices = 1, .opens = true, .dawdles = true});
    const auto open_some = [] {
        for (int turn = 0; turn < 10; ++turn) {
            (void)open_vulkan_device(0);
        }
    };
    std::thread other(open_some);
    open_some();
    other.join();
    CHECK(fake->instances_made == 20);
    CHECK(fake->most_within == 1);
}

TEST_CASE("without a driver, NVIDIA's kernel module hints at what a container lacks", "[vulkan][device]") {
    const TemporaryFolder folder;
    const std::string control = folder.file("nvidiactl");
    CHECK(vulkan::driver_advice(control) == "install mesa-vulkan-drivers, or your GPU maker's driver");
    std::ofstream(control) << "";
    CHECK_THAT(vulkan::driver_advice(control),
               Catch::StartsWith("install mesa-vulkan-drivers, or") && Catch::Contains("NVIDIA_DRIVER_CAPABILITIES"));
}

TEST_CASE("a driver that crashes when asked does not end the program", "[vulkan][device]") {
    const FakeLoader fake({.devices = 3});
    const NoCuda no_cuda;
    const TemporaryFolder folder;
    const Environment cache("XDG_CACHE_HOME", folder.file(""));
    fake->crashes = true;
    const std::vector<DeviceInfo> devices = after_cuda();
    REQUIRE(devices.size() == 2);
    CHECK_THAT(devices[0].rejected,
               Catch::Contains("crashed") && Catch::Contains("Segmentation") && Catch::Contains("VK_DRIVER_FILES"));
    CHECK(devices[1].id == "cpu");
    CHECK_THROWS_WITH(open_device("vulkan", environment_options()), Catch::Contains("crashed"));
    CHECK(fake->instances_made == 0);  // in this process
    fake->crashes = false;             // repaired, and asked again
    CHECK(after_cuda().size() == 4);
}

TEST_CASE("drivers that did not crash are not probed twice", "[vulkan][device]") {
    const FakeLoader fake({.devices = 2});
    const TemporaryFolder folder;
    namespace fs = std::filesystem;
    const std::string first = vulkan::installed_drivers(environment_options().settings);
    vulkan::require_drivers_survive(folder.file("cache"), environment_options().settings);
    const auto stamps = [&] {
        return std::distance(fs::directory_iterator(folder.file("cache")), fs::directory_iterator());
    };
    CHECK(stamps() == 1);
    fake->crashes = true;
    CHECK_NOTHROW(vulkan::require_drivers_survive(folder.file("cache"), environment_options().settings));
    CHECK_THROWS_WITH(vulkan::require_drivers_survive("", environment_options().settings), Catch::Contains("crashed"));
    const Environment others("VK_ADD_DRIVER_FILES", "another.json");
    CHECK(vulkan::installed_drivers(environment_options().settings) != first);
    CHECK_THROWS_WITH(vulkan::require_drivers_survive(folder.file("cache"), environment_options().settings),
                      Catch::Contains("crashed"));
    CHECK(stamps() == 1);
}

TEST_CASE("drivers are identified by every folder of the loader and by its settings", "[vulkan][device]") {
    const TemporaryFolder folder;
    const auto installed = [&](const std::string& name) {
        const std::string file = folder.file(name) + "/vulkan/icd.d/driver.json";
        std::filesystem::create_directories(std::filesystem::path(file).parent_path());
        std::ofstream(file) << "{}";
        return file;
    };
    const std::string first = vulkan::installed_drivers(environment_options().settings);
    for (const char* variable : {"XDG_CONFIG_DIRS", "XDG_DATA_DIRS", "XDG_CONFIG_HOME", "XDG_DATA_HOME"}) {
        INFO(variable);
        const std::string file = installed(variable);
        CHECK_THAT(first, !Catch::Contains(file));
        const bool is_list = std::string(variable).ends_with("_DIRS");
        const Environment set(variable, (is_list ? folder.file("none") + ":" : "") + folder.file(variable));
        CHECK_THAT(vulkan::installed_drivers(environment_options().settings), Catch::Contains(file));
    }
    for (const char* variable : {"VK_LOADER_DRIVERS_SELECT", "VK_LOADER_DRIVERS_DISABLE"}) {
        const Environment set(variable, "*lvp*");
        CHECK_THAT(vulkan::installed_drivers(environment_options().settings),
                   Catch::Contains(std::string(variable) + "=*lvp*"));
    }
}

TEST_CASE("a driver that fails to list its devices is the reason", "[vulkan][device]") {
    const FakeLoader fake({.devices = 3});
    const NoCuda no_cuda;
    fake->enumerating = VK_ERROR_INITIALIZATION_FAILED;
    const std::vector<DeviceInfo> devices = after_cuda();
    REQUIRE(devices.size() == 2);
    CHECK(devices[0].id == "vulkan");
    CHECK_THAT(devices[0].rejected, Catch::Contains("vkEnumeratePhysicalDevices") &&
                                        Catch::Contains("VK_ERROR_INITIALIZATION_FAILED") &&
                                        Catch::Contains("reinstall"));
    CHECK_THROWS_WITH(open_device("vulkan", environment_options()), Catch::Contains("VK_ERROR_INITIALIZATION_FAILED"));
    fake->enumerating = VK_SUCCESS;
    fake->devices = 0;
    CHECK_THAT(after_cuda()[0].rejected, Catch::Contains("no Vulkan device"));
}
