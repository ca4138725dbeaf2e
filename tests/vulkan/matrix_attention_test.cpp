// Attention by matrices: where it runs, and its trial. tests/ops compares the results with the oracle.
#include <catch2/catch.hpp>
#include <string>

#include "backend/ops/attention.h"
#include "backend/ops/elementwise.h"
#include "backends/vulkan/trials/device_trial.h"
#include "backends/vulkan/vulkan_backend.h"
#include "environment.h"
#include "registry/registry.h"

using namespace headscope;
using headscope::vulkan_tests::Environment;
using headscope::vulkan_tests::feature_of;
using headscope::vulkan_tests::usable_device;

namespace {

struct Head {
    std::int64_t length = 40;
    std::int64_t depth = 64;
    DType stored = DType::F16;
    Compute compute = Compute::F32;
    std::int64_t gap = 0;  // columns between the rows of a gradient
    float dropout = 0.0F;
};

Tensor zeros(Backend& backend, const Shape& shape, DType stored) {
    const Tensor tensor = backend.empty(shape, stored);
    backend.run(Fill{.out = tensor});
    return tensor;
}

// The kernels of a forward and a backward, in the order of their names.
std::string kernels_of(Backend& backend, const Head& head) {
    const Shape shape{2, 2, head.length, head.depth};
    const Tensor x = zeros(backend, shape, head.stored);
    const Tensor log_sums = backend.empty({2, 2, head.length}, DType::F32);
    const DropoutRule dropout{
        .rate = head.dropout, .step = zeros(backend, {1}, DType::I32), .ordinals = zeros(backend, {2}, DType::I32)};
    const Tensor grad = backend.empty({2, 2, head.length, head.depth + head.gap}, head.stored).narrow(3, 0, head.depth);
    backend.drain_kernel_names();
    backend.run(Attention{.q = x,
                          .k = x,
                          .v = x,
                          .out = backend.empty(shape, head.stored),
                          .log_sums = log_sums,
                          .dropout = dropout,
                          .compute = head.compute});
    backend.run(AttentionBackward{.q = x,
                                  .k = x,
                                  .v = x,
                                  .out = x,
                                  .grad_out = x,
                                  .log_sums = log_sums,
                                  .grad_q = grad,
                                  .dropout = dropout,
                                  .compute = head.compute});
    backend.synchronize();
    std::string names;
    for (const std::string& kernel : backend.drain_kernel_names()) {
        names += kernel.substr(0, kernel.find(',')) + " ";
    }
    return names;
}

constexpr const char* kBoth = "attend_backward_cooperative_emulated attend_cooperative_emulated ";

}  // namespace

TEST_CASE("attention in F16 that fits a workgroup runs on matrices, in training too", "[vulkan][attention]") {
    if (!usable_device()) {
        return;
    }
    const Environment everything("HEADSCOPE_VULKAN_DISABLE", "");
    const VulkanDevices devices(environment_options());
    const auto matrices = devices.open(0, "cooperative-matrix-emulated");
    if (matrices->support(OpId::Attention, DType::F16).level != SupportLevel::None) {
        CHECK(kernels_of(*matrices, {}) == kBoth);
        CHECK_THAT(kernels_of(*matrices, {.length = 4}), !Catch::Contains("attend_cooperative"));
        CHECK_THAT(kernels_of(*matrices, {.length = 130}), !Catch::Contains("attend_cooperative"));
        CHECK_THAT(kernels_of(*matrices, {.gap = 4}),
                   Catch::Contains("attend_cooperative_emulated ") && !Catch::Contains("attend_backward_cooperative"));
        CHECK_THAT(kernels_of(*matrices, {.stored = DType::BF16}),  // composed of products, which run on matrices
                   !Catch::Contains("attend_cooperative") && !Catch::Contains("attend_backward_cooperative"));
        CHECK(kernels_of(*matrices, {.dropout = 0.1F}) == kBoth);
        CHECK_THAT(kernels_of(*matrices, {.dropout = 0.999999F}),  // whose threshold needs 17 bits
                   Catch::Contains("attend_cooperative_emulated ") && !Catch::Contains("attend_backward_cooperative"));
    }
    CHECK(kernels_of(*matrices, {.stored = DType::F32, .compute = Compute::F16}) == kBoth);
    CHECK_THAT(kernels_of(*matrices, {.stored = DType::F32}), !Catch::Contains("cooperative"));
    for (const char* word : {"cooperative_attention", "fused_attention"}) {
        const Environment disable("HEADSCOPE_VULKAN_DISABLE", word);
        const auto plain = VulkanDevices(environment_options()).open(0, "cooperative-matrix-emulated");
        CHECK_THAT(kernels_of(*plain, {.stored = DType::F32, .compute = Compute::F16}),
                   !Catch::Contains("attend_cooperative"));
    }
}

TEST_CASE("attention that errs by matrices is computed without them, and products still are", "[vulkan][attention]") {
    if (!usable_device()) {
        return;
    }
    const Environment everything("HEADSCOPE_VULKAN_DISABLE", "");
    const Environment emulate("HEADSCOPE_VULKAN_EMULATE_MATRICES", "1");
    const Head head{.stored = DType::F32, .compute = Compute::F16};
    for (const bool errs : {true, false}) {
        const Environment err("HEADSCOPE_VULKAN_TRIAL_ERROR", errs ? "200000/16" : "0/16");
        const Warnings warnings;
        const auto backend = open_vulkan_device(0, warnings.diagnostics());
        CHECK((kernels_of(*backend, head) == kBoth) == !errs);
        CHECK(warnings.text().empty() == !errs);
        const std::string says = feature_of(backend->device(), vulkan::kMatrixAttentionFeature);
        CHECK((says.find("attention by matrices failed the trial") != std::string::npos) == errs);
        if (errs) {
            CHECK_THAT(warnings.text(),
                       Catch::Contains(": attention by matrices disabled: attention of heads of 64 columns in ") &&
                           Catch::EndsWith("HEADSCOPE_VULKAN_DISABLE=cooperative_attention\n"));
            CHECK_THAT(kernels_of(*backend, head), Catch::Contains("matmul_cooperative_emulated"));
        }
    }
}

TEST_CASE("the trial of attention by matrices expects what another backend computes", "[vulkan][trial]") {
    const auto cpu = open_device("cpu");
    CHECK(vulkan::matrix_attention_complaint(*cpu, {}).empty());
    vulkan::Options errs;
    errs.trial_error = vulkan::TrialError{.millionths = 200000};
    CHECK_THAT(vulkan::matrix_attention_complaint(*cpu, errs),
               Catch::StartsWith("attention of heads of 64 columns in "));
}
