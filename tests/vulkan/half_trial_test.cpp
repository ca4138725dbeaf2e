// How F16 is widened, by the device's own conversion or by bits: the same numbers, and a device that errs is found out.
#include "backends/vulkan/trials/half_trial.h"

#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "backends/vulkan/vulkan_backend.h"
#include "environment.h"
#include "fake_loader.h"
#include "tensor/dtype.h"

using namespace headscope;
using headscope::vulkan_tests::Environment;
using headscope::vulkan_tests::FakeLoader;
using headscope::vulkan_tests::feature_of;
using headscope::vulkan_tests::usable_device;

namespace {

constexpr const char* kOwn = "by its own conversion";

std::string conversions_of(const Backend& backend) {
    return feature_of(backend.device(), vulkan::kHalfFeature);
}

// Every number in F16: what came of it in F32, and by which kernels.
struct Widened {
    std::vector<float> values;
    std::string kernels;
};

Widened widen_all(Backend& backend) {
    std::vector<std::uint16_t> all(std::size_t{1} << 16U);
    std::iota(all.begin(), all.end(), std::uint16_t{0});
    const Shape shape{static_cast<std::int64_t>(all.size())};
    const Tensor halves = backend.empty(shape, DType::F16);
    backend.take_kernels();
    backend.upload(halves, all.data(), all.size() * sizeof all[0]);
    const Tensor widened = backend.empty(shape, DType::F32);
    backend.run(Copy{.x = halves, .out = widened});
    Widened result{to_host<float>(backend, widened), {}};
    for (const std::string& kernel : backend.take_kernels()) {
        result.kernels += kernel + "; ";
    }
    return result;
}

void check_all(const std::vector<float>& values) {
    std::size_t wrong = 0;
    for (std::size_t half = 0; half < values.size(); ++half) {
        const float expected = from_f16(static_cast<std::uint16_t>(half));
        const bool same = std::isnan(expected)
                              ? std::isnan(values[half])
                              : std::bit_cast<std::uint32_t>(expected) == std::bit_cast<std::uint32_t>(values[half]);
        wrong += same ? 0 : 1;
    }
    CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("F16 is widened by the device's own conversion or by bits, to the same numbers", "[vulkan][half]") {
    if (!usable_device()) {
        return;
    }
    const VulkanDevices devices(environment_options());
    for (const char* path : {"half-conversions", ""}) {
        INFO("path " << path);
        const auto backend = devices.open(0, path);
        if (backend->support(Copy::kName, DType::F16).level == SupportLevel::None) {
            WARN("SKIPPED: " << backend->device().name << " stores nothing in 16 bits");
            return;
        }
        const bool own = *path != '\0' || !backend->device().software;
        CHECK(conversions_of(*backend) == (own ? "yes" : "by bits"));
        const Widened widened = widen_all(*backend);
        check_all(widened.values);
        CHECK((widened.kernels.find(kOwn) != std::string::npos) == own);
        CHECK(conversions_of(*backend) == (own ? "yes" : "by bits"));  // it passes its trial
    }
    const Environment disable("HEADSCOPE_VULKAN_DISABLE", "half_conversions");
    const auto plain = open_vulkan_device(0);
    CHECK(conversions_of(*plain) == "switched off");
    CHECK_THAT(widen_all(*plain).kernels, !Catch::Contains(kOwn));
}

TEST_CASE("a device whose conversions err widens F16 by bits, unless it is believed", "[vulkan][half]") {
    if (!usable_device()) {
        return;
    }
    const Environment err("HEADSCOPE_VULKAN_TRIAL_ERROR", "1");
    const VulkanDevices devices(environment_options());
    const auto backend = devices.open(0, "half-conversions");
    if (backend->support(Copy::kName, DType::F16).level == SupportLevel::None) {
        WARN("SKIPPED: " << backend->device().name << " stores nothing in 16 bits");
        return;
    }
    (void)backend->empty({4}, DType::BF16);
    CHECK(conversions_of(*backend) == "yes");  // nothing is tried before it is needed
    const Widened widened = widen_all(*backend);
    CHECK(conversions_of(*backend) == "by bits, since its own err");
    CHECK_THAT(widened.kernels, !Catch::Contains(kOwn));
    check_all(widened.values);

    const Environment believe("HEADSCOPE_VULKAN_DISABLE", "half_trial");
    const auto believed = VulkanDevices(environment_options()).open(0, "half-conversions");
    CHECK_THAT(widen_all(*believed).kernels, Catch::Contains(kOwn));
    CHECK(conversions_of(*believed) == "yes");
}

TEST_CASE("what is compiled for the trial is what is tried", "[vulkan][half]") {
    FakeLoader fake({.devices = 2, .storage16 = true, .opens = true});
    const auto backend = open_vulkan_device(0);
    (void)backend->empty({4}, DType::F16);
    CHECK(fake->pipelines_begun == 1);
}

TEST_CASE("a driver that cannot compile its own conversion widens by bits, and loses nothing else", "[vulkan][half]") {
    FakeLoader fake({.devices = 2, .storage16 = true, .opens = true, .fails_to_compile = 1});
    const auto backend = open_vulkan_device(0);
    REQUIRE(conversions_of(*backend) == "yes");
    (void)backend->empty({4}, DType::F16);
    CHECK(conversions_of(*backend) == "by bits, since its own err");
    const Tensor values = backend->empty({4}, DType::F32);
    backend->run(Fill{.out = values, .value = 1.0F});
    CHECK_NOTHROW(backend->synchronize());
    CHECK(fake->pipelines_begun >= 1);
}
