// Which subgroup sizes kernels are compiled for, on a fake driver with several sizes, like Intel's and AMD's.
#include "backends/vulkan/device/subgroup_sizes.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "backends/vulkan/device/reflect.h"
#include "backends/vulkan/vulkan_backend.h"
#include "environment.h"
#include "fake_loader.h"
#include "streamed.h"
#include "support/check.h"

using namespace headscope;
using namespace headscope::vulkan;
using namespace headscope::vulkan_tests;

namespace {

constexpr FakeVulkan kIntel{.devices = 2, .subgroup_size = 32, .least_subgroup = 8, .most_subgroup = 32, .opens = true};

// The sizes that the first device's pipelines of these workgroups require, with and without subgroups.
std::vector<std::string> asked(const FakeVulkan& driver, std::initializer_list<std::uint32_t> local_sizes) {
    FakeLoader fake(driver);
    Streamed made(0);
    for (const std::uint32_t local_size : local_sizes) {
        made.pipelines.get(Kernel::MaskedSoftmax, {.local_size = local_size});
        made.pipelines.get(Kernel::MatmulTiled, {.local_size = local_size});
    }
    return fake->asked;
}

}  // namespace

TEST_CASE("subgroups are short if they can be, else the device's default", "[vulkan][subgroup]") {
    const auto chosen = [](std::uint32_t own, std::uint32_t least, std::uint32_t most) {
        return choose_subgroup_size({.own = own, .least = least, .most = most});
    };
    CHECK(chosen(32, 8, 32) == 16);   // Intel up to Xe
    CHECK(chosen(32, 16, 32) == 16);  // and from Xe 2 on
    CHECK(chosen(64, 32, 64) == 64);  // AMD since RDNA
    CHECK(chosen(64, 64, 64) == 64);
    CHECK(chosen(32, 32, 32) == 32);
    CHECK(chosen(8, 8, 8) == 8);
    CHECK(chosen(32, 0, 0) == 32);  // none can be required
}

TEST_CASE("subgroup sizes are reported, and invalid ones rejected", "[vulkan][subgroup]") {
    const SubgroupSizes several{.own = 32, .least = 8, .most = 32, .most_in_group = 8};
    CHECK(several.all() == std::vector<std::uint32_t>{8, 16, 32});
    CHECK(several.offers(16));
    CHECK_FALSE(several.offers(4));
    CHECK_FALSE(several.offers(24));
    CHECK_FALSE(several.offers(64));
    CHECK(several.fits(16, 128));
    CHECK(SubgroupSizes{.own = 32, .least = 8, .most = 128, .most_in_group = 1U << 25U}.fits(128, 1024));
    CHECK_FALSE(several.fits(16, 129));
    CHECK(several.fills(16, 128));
    CHECK_FALSE(several.fills(16, 120));
    CHECK_FALSE(several.fills(16, 256));  // more of them than can be required
    CHECK(several.fills(32, 512));        // the default needs no request
    CHECK(several.describe(16) == "16 of 8 to 32");
    CHECK(several.invalid_reason().empty());
    const SubgroupSizes one{.own = 64};
    CHECK(one.all() == std::vector<std::uint32_t>{64});
    CHECK(one.describe(64) == "64");
    CHECK_FALSE(one.fits(64, 64));
    CHECK(one.fills(64, 128));
    const auto says = [](std::uint32_t own, std::uint32_t least, std::uint32_t most) {
        return SubgroupSizes{.own = own, .least = least, .most = most}.invalid_reason();
    };
    CHECK(says(24, 0, 0) == "subgroups of 24 invocations, which is not a power of two up to 128");
    CHECK(says(64, 8, 32) == "subgroups of 8 to 32 invocations, and its own of 64");
    CHECK_FALSE(says(32, 8, 96).empty());
    CHECK_FALSE(says(32, 8, 4294967295U).empty());
}

TEST_CASE("kernels with subgroups require their size, in full if the workgroup allows; others require nothing",
          "[vulkan][subgroup]") {
    CHECK(asked(kIntel, {64, 8}) == std::vector<std::string>{"64 of 16, full", "64", "8 of 16", "8"});
    FakeVulkan few = kIntel;
    few.most_subgroups = 4;
    CHECK(asked(few, {64, 128}) == std::vector<std::string>{"64 of 16, full", "64", "128", "128"});
    CHECK(asked({.devices = 2, .opens = true}, {64}) == std::vector<std::string>{"64", "64"});
}

TEST_CASE("the user, or a path, can choose a subgroup size that the device has", "[vulkan][subgroup]") {
    FakeLoader fake(kIntel);
    const DeviceInfo own = open_vulkan_device(0)->device();
    CHECK(limit_of(own, "subgroup size") == "16 of 8 to 32");
    for (const char* path : {"subgroups-of-8", "subgroups-of-32"}) {
        CHECK(std::count(own.paths.begin(), own.paths.end(), path) == 1);
        CHECK(limit_of(VulkanDevices(environment_options()).open(0, path)->device(), "subgroup size") ==
              std::string(path).substr(std::string("subgroups-of-").size()) + " of 8 to 32");
    }
    CHECK(std::count(own.paths.begin(), own.paths.end(), "subgroups-of-16") == 0);
    CHECK(open_vulkan_device(0)->product_ways()->why_not_saved().empty());
    {
        const Environment wanted("HEADSCOPE_VULKAN_SUBGROUP_SIZE", "8");
        const auto device = open_vulkan_device(0);
        CHECK(limit_of(device->device(), "subgroup size") == "8 of 8 to 32");
        CHECK_THAT(device->product_ways()->why_not_saved(), Catch::Contains("HEADSCOPE_VULKAN_SUBGROUP_SIZE"));
    }
    for (const char* wrong : {"4", "24", "64"}) {
        const Environment wanted("HEADSCOPE_VULKAN_SUBGROUP_SIZE", wrong);
        CHECK_THROWS_WITH(open_vulkan_device(0), Catch::Contains(wrong) && Catch::Contains("subgroups of 8, 16, 32"));
    }
}

TEST_CASE("a module reports whether it has subgroup operations", "[vulkan][subgroup]") {
    const KernelModule softmax = module_of(Kernel::MaskedSoftmax);
    CHECK(uses_subgroups(softmax.spirv));
    CHECK_FALSE(uses_subgroups(softmax.spirv_shared));
    CHECK(uses_subgroups(module_of(Kernel::MatmulSubgroup).spirv));
    CHECK(uses_subgroups(module_of(Kernel::MatmulCooperative).spirv));
    CHECK_FALSE(uses_subgroups(module_of(Kernel::MatmulTiled).spirv));
    CHECK_FALSE(uses_subgroups(module_of(Kernel::MatmulTiled).spirv_16));
}
