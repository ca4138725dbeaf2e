// Sums, extremes and exchanges within subgroups on trial: who passes it, and what becomes of a device that does not.
#include "backends/vulkan/trials/subgroup_trial.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "backends/vulkan/vulkan_backend.h"
#include "environment.h"
#include "fake_loader.h"
#include "tests/backend/forwarding_backend.h"

using namespace headscope;
using headscope::vulkan_tests::Environment;
using headscope::vulkan_tests::FakeLoader;
using headscope::vulkan_tests::feature_of;
using headscope::vulkan_tests::usable_device;

namespace {

constexpr const char* kErr = "not used, since its subgroups fail their trial";

// One of what an op writes is off, where it writes so many at least.
class Errs final : public ForwardingBackend {
public:
    Errs(std::unique_ptr<Backend> inner, std::string op, std::int64_t least = 0)
        : ForwardingBackend(std::move(inner)), op_(std::move(op)), least_(least) {}
    using ForwardingBackend::run;
    void run(const MaskedSoftmax& op) override { err(op, op.weights); }
    void run(const LogSoftmaxTopK& op) override { err(op, op.indices); }
    void run(const Attention& op) override { err(op, op.out); }
    std::vector<std::string> kernels() { return inner().take_kernels(); }

private:
    template <class Op>
    void err(const Op& op, const Tensor& out) {
        inner().run(op);
        if (op_ == Op::kName && out.elements() >= least_) {
            std::vector<float> values = to_host<float>(*this, out);
            values[1] += out.dtype == DType::I32 ? 1.0F : 1e-4F;
            from_host(*this, out, values);
        }
    }

    const std::string op_;
    const std::int64_t least_;
};

}  // namespace

TEST_CASE("subgroups pass their trial in the forms that rows have on CPUs and on GPUs", "[vulkan][subgroup]") {
    if (!usable_device()) {
        return;
    }
    const VulkanDevices devices(environment_options());
    for (const char* path : {"", "fused-attention", "several-subgroups-a-row"}) {
        INFO("path " << path);
        const std::vector<std::string> paths = devices.list()[0].paths;
        if (*path != '\0' && std::find(paths.begin(), paths.end(), path) == paths.end()) {
            continue;
        }
        Errs backend(devices.open(0, path), "nothing");
        backend.kernels();
        CHECK(vulkan::subgroup_complaint(backend).empty());
        const std::vector<std::string> kernels = backend.kernels();
        CHECK(std::count_if(kernels.begin(), kernels.end(), [](const std::string& kernel) {
                  return kernel.find("reduces by subgroups") != std::string::npos;
              }) == 4);
    }
}

TEST_CASE("a subgroup that errs in one number is found out", "[vulkan][subgroup]") {
    if (!usable_device()) {
        return;
    }
    const VulkanDevices devices(environment_options());
    constexpr std::int64_t kLongRow = 1000;
    for (const auto& [op, least] :
         {std::pair{MaskedSoftmax::kName, std::int64_t{0}}, std::pair{MaskedSoftmax::kName, kLongRow},
          std::pair{LogSoftmaxTopK::kName, std::int64_t{0}}, std::pair{Attention::kName, std::int64_t{0}}}) {
        Errs backend(devices.open(0), op, least);
        CHECK_THAT(vulkan::subgroup_complaint(backend),
                   Catch::StartsWith(std::string(op) + " by subgroups is off by "));
    }
}

TEST_CASE("a device whose subgroups err, or whose driver cannot compile them, is opened without",
          "[vulkan][subgroup]") {
    const FakeMatrices matrices;
    for (const int fails_to_compile : {0, 1}) {
        FakeLoader fake({.devices = 2,
                         .keeps_specials = VK_TRUE,
                         .opens = true,
                         .matrices = &matrices,
                         .fails_to_compile = fails_to_compile});
        const Environment everything("HEADSCOPE_VULKAN_DISABLE", "");
        const Warnings said;
        const auto backend = open_vulkan_device(0, said.diagnostics());
        for (const char* feature : {"subgroup arithmetic", "subgroup shuffles", "cooperative matrices"}) {
            CHECK(feature_of(backend->device(), feature) == kErr);
        }
        CHECK(feature_of(backend->device(), "NaN and infinities kept") == "yes");
        const std::vector<std::string>& paths = backend->device().paths;
        CHECK(std::count(paths.begin(), paths.end(), "no-subgroups") == 0);
        CHECK_THAT(said.text(), Catch::StartsWith("vulkan:0 (fake 1) does without its subgroups: ") &&
                                    Catch::Contains(fails_to_compile == 0 ? "masked_softmax by subgroups is off by "
                                                                          : "cannot compile the kernel ") &&
                                    Catch::EndsWith("HEADSCOPE_VULKAN_DISABLE=subgroups\n"));
    }
}

TEST_CASE("subgroups that are believed, and a CPU's, have no trial", "[vulkan][subgroup]") {
    FakeLoader fake({.devices = 2, .opens = true});
    const Warnings said;
    for (const int device : {0, 1}) {
        const Environment believe("HEADSCOPE_VULKAN_DISABLE", device == 0 ? "subgroup_trial" : "");
        const auto backend = open_vulkan_device(device, said.diagnostics());
        CHECK(backend->device().software == (device == 1));
        CHECK(feature_of(backend->device(), "subgroup arithmetic") == "yes");
    }
    CHECK(said.text().empty());
    CHECK(fake->pipelines_begun == 0);
}

TEST_CASE("a trial that the device does not survive is no verdict", "[vulkan][subgroup]") {
    FakeLoader fake({.devices = 2, .opens = true, .submitting = VK_ERROR_DEVICE_LOST});
    const Environment everything("HEADSCOPE_VULKAN_DISABLE", "");
    const Warnings said;
    CHECK_THROWS_AS(open_vulkan_device(0, said.diagnostics()), DeviceLost);
    CHECK(said.text().empty());
}
