// What is found and how often it is looked for, on a loader with devices that no test machine has.
#include <catch2/catch.hpp>

#include "environment.h"
#include "fake_loader.h"
#include "registry/gpu_possible.h"
#include "registry/registry.h"
#include "support/check.h"

using namespace headscope;
using headscope::vulkan_tests::Environment;
using headscope::vulkan_tests::FakeLoader;

TEST_CASE("devices are listed from one instance, GPUs first, and the first GPU is the default", "[vulkan][device]") {
    const FakeLoader fake(3);
    const Environment driver("VK_DRIVER_FILES", "someone's own");  // which makes a GPU possible
    const std::vector<DeviceInfo> devices = list_devices();
    REQUIRE(devices.size() == 4);
    CHECK(devices[0].name == "fake 1");
    CHECK(devices[0].id == "vulkan:0");
    CHECK(devices[1].name == "fake 2");
    CHECK(devices[2].name == "fake 0");
    CHECK(devices[2].software);
    CHECK(devices[3].id == "cpu");
    CHECK(default_device(devices) == "vulkan:0");
    CHECK(fake->instances_made == 1);
}

TEST_CASE("a device is found and opened with one instance", "[vulkan][device]") {
    for (const char* wanted : {"", "vulkan", "vulkan:1"}) {
        const FakeLoader fake(3);
        const Environment driver("VK_DRIVER_FILES", "someone's own");
        INFO("\"" << wanted << "\"");
        // The GPU is there and fails: that is said, not passed over for the CPU.
        CHECK_THROWS_WITH(open_device(wanted), Catch::Contains("vkCreateDevice"));
        CHECK(fake->instances_made == 1);
    }
}

TEST_CASE("the default device is the CPU, drivers unasked, where no GPU is possible", "[vulkan][device]") {
    for (const char* variable : {"VK_DRIVER_FILES", "VK_ICD_FILENAMES", "VK_ADD_DRIVER_FILES"}) {
        if (std::getenv(variable) != nullptr) {
            WARN("SKIPPED: " << variable << " is set");
            return;
        }
    }
    const FakeLoader software(1);
    CHECK(open_device("")->device().id == "cpu");
    CHECK(software->instances_made == (gpu_possible() ? 1 : 0));
    CHECK(default_device(list_devices()) == "cpu");
}

TEST_CASE("a driver that fails to list its devices is the reason given", "[vulkan][device]") {
    const FakeLoader fake(3);
    fake->enumerating = VK_ERROR_INITIALIZATION_FAILED;
    const std::vector<DeviceInfo> devices = list_devices();
    REQUIRE(devices.size() == 2);
    CHECK(devices[0].id == "vulkan");
    CHECK_THAT(devices[0].rejected, Catch::Contains("vkEnumeratePhysicalDevices") &&
                                        Catch::Contains("VK_ERROR_INITIALIZATION_FAILED") &&
                                        Catch::Contains("reinstall"));
    CHECK_THROWS_WITH(open_device("vulkan"), Catch::Contains("VK_ERROR_INITIALIZATION_FAILED"));
    fake->enumerating = VK_SUCCESS;
    fake->devices = 0;
    CHECK_THAT(list_devices()[0].rejected, Catch::Contains("no Vulkan device"));
}
