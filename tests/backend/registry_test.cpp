#include "registry/registry.h"

#include <catch2/catch.hpp>

#include "support/check.h"
#include "tests/house/environment.h"

using namespace headscope;

TEST_CASE("the CPU and the oracle always exist", "[registry]") {
    CHECK(open_device("cpu")->device().id == "cpu");
    CHECK(open_device("cpu")->full_dtype() == DType::F32);
    CHECK(open_device("cpu:oracle")->device().backend == "oracle");
    CHECK(open_device("cpu:oracle")->full_dtype() == DType::F64);
    const std::vector<DeviceInfo> devices = list_devices();
    REQUIRE_FALSE(devices.empty());
    CHECK(devices.back().id == "cpu");
    CHECK(devices.back().rejected.empty());
    CHECK(devices.back().memory_bytes > 0);
}

TEST_CASE("an unknown device is an error that lists the devices", "[registry]") {
    CHECK_THROWS_WITH(open_device("abacus"), Catch::Matchers::StartsWith("unknown device \"abacus\"\nThere is:") &&
                                                 Catch::Matchers::Contains("\n  cpu: "));
    CHECK_THROWS_WITH(open_device("vulkan:99"), Catch::Matchers::Contains("no usable device \"vulkan:99\""));
    CHECK_THROWS_WITH(open_device("cuda:99"), Catch::Matchers::Contains("no usable device \"cuda:99\"") &&
                                                  Catch::Matchers::Contains("\n  cuda"));
}

TEST_CASE("several devices are an error where one is expected", "[registry]") {
    for (const char* several : {"all", "cpu,vulkan"}) {
        CHECK_THROWS_WITH(open_device(several), Catch::Matchers::Contains(std::string("\"") + several + "\"") &&
                                                    Catch::Matchers::Contains("this takes one device"));
    }
}

TEST_CASE("HEADSCOPE_DEVICE is used if no device is named", "[registry]") {
    const OpenOptions options{.settings = {{{"HEADSCOPE_DEVICE", "cpu:oracle"}}}};
    CHECK(default_device(list_devices(), options.settings) == "cpu:oracle");
    CHECK(open_device("", options)->device().backend == "oracle");
    CHECK(open_device("cpu", options)->device().backend == "cpu");
    CHECK(open_device("")->device().id == default_device(list_devices(), {}));
}

TEST_CASE("without settings the environment has no effect", "[registry]") {
    const Environment device("HEADSCOPE_DEVICE", "abacus");
    const Environment threads("HEADSCOPE_THREADS", "many");
    CHECK_NOTHROW(open_device("")->synchronize());
    const OpenOptions options{.settings = {{{"HEADSCOPE_THREADS", "many"}}}};
    CHECK_THROWS_WITH(open_device("cpu", options), Catch::Matchers::Contains("HEADSCOPE_THREADS is \"many\""));
}

TEST_CASE("a device reports what suits it", "[registry]") {
    CHECK(open_device("cpu")->device().length_multiple == 1);
    CHECK(open_device("cpu:oracle")->device().length_multiple == 8);
    CHECK_FALSE(open_device("cpu:oracle")->device().trains_faster_in_bf16);
}

TEST_CASE("a device reports what it cannot do", "[registry]") {
    const auto cpu = open_device("cpu");
    CHECK(cpu->support(OpId::Attention, DType::F32).level == SupportLevel::Native);
    CHECK(cpu->support(OpId::Matmul, DType::F16).level == SupportLevel::None);
    CHECK_FALSE(cpu->support(OpId::Matmul, DType::F16).reason.empty());
    CHECK(cpu->support(OpId::Copy, DType::F16).level == SupportLevel::Native);
    CHECK(open_device("cpu:oracle")->support(OpId::Attention, DType::F64).level == SupportLevel::Composed);
}
