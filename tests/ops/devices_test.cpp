#include "devices.h"

#include <catch2/catch.hpp>

using namespace headscope;
using namespace headscope::conformance;

namespace {

using Lines = std::vector<std::string>;

DeviceInfo device(const std::string& id, const std::string& backend, const std::string& rejected = "") {
    DeviceInfo info;
    info.id = id;
    info.backend = backend;
    info.rejected = rejected;
    return info;
}

const std::vector<DeviceInfo>& some_devices() {
    static const std::vector<DeviceInfo> kDevices{device("vulkan:0", "vulkan"), device("vulkan:1", "vulkan", "too old"),
                                                  device("cuda", "cuda", "not built in"), device("cpu", "cpu")};
    return kDevices;
}

}  // namespace

TEST_CASE("every usable device is tested, and missing ones are reported", "[devices]") {
    const Selection selection = select_devices(some_devices(), "", "");
    CHECK(selection.ids == Lines{"vulkan:0", "cpu"});
    CHECK(selection.skipped == Lines{"no cuda device: cuda: not built in"});
    CHECK(selection.failures.empty());
}

TEST_CASE("a required backend without a device is a failure", "[devices]") {
    const Selection selection = select_devices(some_devices(), "", "cpu,cuda,metal");
    CHECK(selection.skipped.empty());
    CHECK(selection.failures == Lines{"no cuda device: cuda: not built in", "no metal device: this build knows none"});
}

TEST_CASE("tests can be limited to some devices", "[devices]") {
    CHECK(select_devices(some_devices(), "cpu", "").ids == Lines{"cpu"});
    CHECK(select_devices(some_devices(), "vulkan:0", "").ids == Lines{"vulkan:0"});
    CHECK(select_devices(some_devices(), "vulkan,cpu", "").ids == Lines{"vulkan:0", "cpu"});
    const Selection selection = select_devices(some_devices(), "cpu", "vulkan");
    CHECK(selection.failures == Lines{"no vulkan device: vulkan:0: left out by HEADSCOPE_TEST_DEVICES; vulkan:1: left "
                                      "out by HEADSCOPE_TEST_DEVICES"});
    CHECK(select_devices(some_devices(), "cpu,vulcan", "").failures ==
          Lines{"HEADSCOPE_TEST_DEVICES names \"vulcan\", which is no device"});
}
