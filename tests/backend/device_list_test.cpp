#include "registry/device_list.h"

#include <catch2/catch.hpp>

#include "registry/registry.h"
#include "support/usage_error.h"

using namespace headscope;

namespace {

using Ids = std::vector<std::string>;

DeviceInfo device(const std::string& backend, const std::string& id, const std::string& name) {
    DeviceInfo info;
    info.id = id;
    info.backend = backend;
    info.name = name;
    return info;
}

}  // namespace

TEST_CASE("a list of devices is split", "[device_list]") {
    CHECK(device_list("", {}) == Ids{""});
    CHECK(device_list("vulkan:1", {}) == Ids{"vulkan:1"});
    CHECK(device_list("vulkan:0,vulkan:0,cpu", {}) == Ids{"vulkan:0", "vulkan:0", "cpu"});
    CHECK_THROWS_WITH(device_list("cpu,,cuda", {}), Catch::Matchers::Contains("names an empty device"));
    CHECK_THROWS_WITH(device_list("cpu,", {}), Catch::Matchers::Contains("names an empty device"));
    CHECK_THROWS_AS(device_list("cpu,", {}), UsageError);
    CHECK_THROWS_WITH(device_list("cpu,all", {}), Catch::Matchers::Contains("give all alone"));
}

TEST_CASE("HEADSCOPE_DEVICE may be a list if several devices are allowed and none is given", "[device_list]") {
    OpenOptions options{.settings = {{{"HEADSCOPE_DEVICE", "cpu,cpu:oracle"}}}};
    CHECK(asked_devices("", options) == Ids{"cpu", "cpu:oracle"});
    CHECK(asked_devices("vulkan:1", options) == Ids{"vulkan:1"});
    CHECK(asked_devices(Ids{}, options) == Ids{"cpu", "cpu:oracle"});
    CHECK(asked_devices(Ids{"cpu"}, options) == Ids{"cpu"});
    CHECK_THROWS_WITH(open_device("", options), Catch::Matchers::Contains("HEADSCOPE_DEVICE is \"cpu,cpu:oracle\""));
    options.settings.set("HEADSCOPE_DEVICE", "all");
    CHECK(asked_devices("", options) == asked_devices("all", options));
    CHECK(asked_devices(Ids{}, options) == asked_devices(Ids{"all"}, options));
    CHECK_THROWS_WITH(open_device("", options), Catch::Matchers::Contains("name it by --device"));
    options = {};
    CHECK(asked_devices("", options) == Ids{""});
    CHECK(asked_devices(Ids{}, options) == Ids{""});
}

TEST_CASE("\"all\" is every device that adds something", "[device_list]") {
    DeviceInfo played = device("vulkan", "vulkan:3", "llvmpipe");
    played.software = true;
    DeviceInfo broken = device("vulkan", "vulkan:2", "old card");
    broken.rejected = "too old";
    const std::vector<DeviceInfo> devices{device("cuda", "cuda:0", "H200"),
                                          device("cuda", "cuda:1", "H200"),      // two cards of one kind
                                          device("vulkan", "vulkan:0", "H200"),  // the same card again
                                          device("vulkan", "vulkan:1", "Arc"),
                                          broken,
                                          played,
                                          device("cpu", "cpu", "Xeon")};
    CHECK(device_list("all", devices) == Ids{"cuda:0", "cuda:1", "vulkan:1", "cpu"});
    CHECK(device_list("all", {played}).empty());
    CHECK(device_list("all+software", devices) == Ids{"cuda:0", "cuda:1", "vulkan:0", "vulkan:1", "vulkan:3", "cpu"});
}
