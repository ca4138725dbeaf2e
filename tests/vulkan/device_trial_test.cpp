// Trials of features that drivers get wrong: what they find, what is disabled then, and which verdicts are kept.
#include "backends/vulkan/trials/device_trial.h"

#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "backend/forwarding_backend.h"
#include "backend/ops/attention.h"
#include "backend/ops/elementwise.h"
#include "backend/ops/matmul.h"
#include "backend/ops/search.h"
#include "backend/product_ways.h"
#include "backends/vulkan/vulkan_backend.h"
#include "environment.h"
#include "fake_loader.h"
#include "registry/registry.h"
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

// All F16 numbers as F32, and the kernels that ran.
struct Widened {
    std::vector<float> values;
    std::string kernels;
};

Widened widen_all(Backend& backend) {
    std::vector<std::uint16_t> all(std::size_t{1} << 16U);
    std::iota(all.begin(), all.end(), std::uint16_t{0});
    const Shape shape{static_cast<std::int64_t>(all.size())};
    const Tensor halves = backend.empty(shape, DType::F16);
    backend.drain_kernel_names();
    backend.upload(halves, all.data(), all.size() * sizeof all[0]);
    const Tensor widened = backend.empty(shape, DType::F32);
    backend.run(Copy{.x = halves, .out = widened});
    Widened result{to_host<float>(backend, widened), {}};
    for (const std::string& kernel : backend.drain_kernel_names()) {
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

// Changes one element of what an op writes, if it writes at least `least`.
class Errs final : public ForwardingBackend {
public:
    Errs(std::unique_ptr<Backend> inner, std::string op, std::int64_t least = 0)
        : ForwardingBackend(std::move(inner)), op_(std::move(op)), least_(least) {}
    using ForwardingBackend::run;
    void run(const MaskedSoftmax& op) override { err(op, op.weights); }
    void run(const LogSoftmaxTopK& op) override { err(op, op.indices); }
    void run(const Attention& op) override { err(op, op.out); }
    std::vector<std::string> kernels() { return inner().drain_kernel_names(); }

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

// Multiplies on the host instead of by matrices; optionally flushes subnormal operands to 0.
class HostMatrices final : public ForwardingBackend {
public:
    explicit HostMatrices(bool flushes, bool bf16 = false)
        : ForwardingBackend(open_device("cpu")), flushes_(flushes), bf16_(bf16) {}
    using ForwardingBackend::run;
    void run(const Matmul& op) override {
        Matmul plain = op;
        plain.a = narrowed(op.a);
        plain.b = narrowed(op.b);
        plain.compute = Compute::F32;
        inner().run(plain);
    }

private:
    Tensor narrowed(const Tensor& tensor) {
        std::vector<float> values = to_host<float>(*this, tensor);
        for (float& value : values) {
            value = bf16_ ? from_bf16(to_bf16(value)) : from_f16(to_f16(value));
            value = flushes_ && std::abs(value) < 0x1p-14F ? 0.0F : value;
        }
        return make_from_host(*this, tensor.shape, DType::F32, values);
    }

    const bool flushes_;
    const bool bf16_;
};

std::string kernels_of_product(Backend& backend) {
    backend.drain_kernel_names();
    const auto zeros = [&](const Shape& shape) {
        return make_from_host(backend, shape, DType::F32,
                              std::vector<float>(static_cast<std::size_t>(shape.elements())));
    };
    backend.run(Matmul{.a = zeros({150, 40}), .b = zeros({40, 24}), .out = zeros({150, 24}), .compute = Compute::F16});
    return backend.drain_kernel_names().at(0);
}

}  // namespace

TEST_CASE("the device's F16 conversions and bit operations give the same numbers", "[vulkan][half]") {
    if (!usable_device()) {
        return;
    }
    const Environment try_them("HEADSCOPE_VULKAN_TRIAL_ERROR", "0");
    const VulkanDevices devices(environment_options());
    for (const char* path : {"half-conversions", ""}) {
        INFO("path " << path);
        const auto backend = devices.open(0, path);
        if (backend->support(OpId::Copy, DType::F16).level == SupportLevel::None) {
            WARN("SKIPPED: " << backend->device().name << " stores nothing in 16 bits");
            return;
        }
        const bool own = *path != '\0' || !backend->device().software;
        CHECK(conversions_of(*backend) == (own ? "yes" : "by bits"));
        const Widened widened = widen_all(*backend);
        check_all(widened.values);
        CHECK((widened.kernels.find(kOwn) != std::string::npos) == own);
    }
    const Environment disable("HEADSCOPE_VULKAN_DISABLE", "half_conversions");
    const auto plain = open_vulkan_device(0);
    CHECK(conversions_of(*plain) == "switched off");
    CHECK_THAT(widen_all(*plain).kernels, !Catch::Contains(kOwn));
}

TEST_CASE("trials have room for their rows, whatever binding the tests allow", "[vulkan][half]") {
    if (!usable_device()) {
        return;
    }
    const Environment try_them("HEADSCOPE_VULKAN_TRIAL_ERROR", "0");
    const Environment binding("HEADSCOPE_VULKAN_MAX_BINDING", "4096");
    CHECK_NOTHROW(open_vulkan_device(0));
}

TEST_CASE("a device whose F16 conversions err widens by bits, unless trials are disabled", "[vulkan][half]") {
    if (!usable_device()) {
        return;
    }
    const Environment err("HEADSCOPE_VULKAN_TRIAL_ERROR", "1");
    const Warnings warnings;
    const auto backend = VulkanDevices(environment_options(warnings.diagnostics())).open(0, "half-conversions");
    if (backend->support(OpId::Copy, DType::F16).level == SupportLevel::None) {
        WARN("SKIPPED: " << backend->device().name << " stores nothing in 16 bits");
        return;
    }
    CHECK(conversions_of(*backend) == "switched off, half conversions failed the trial");
    CHECK_THAT(warnings.text(), Catch::Contains(": half conversions disabled: ") &&
                                    Catch::Contains(" of 65536 F16 numbers are widened wrongly; update the driver, ") &&
                                    Catch::EndsWith("HEADSCOPE_VULKAN_DISABLE=half_conversions\n"));
    const Widened widened = widen_all(*backend);
    CHECK_THAT(widened.kernels, !Catch::Contains(kOwn));
    check_all(widened.values);

    const Environment believe("HEADSCOPE_VULKAN_DISABLE", "trials");
    const auto believed = VulkanDevices(environment_options()).open(0, "half-conversions");
    CHECK_THAT(widen_all(*believed).kernels, Catch::Contains(kOwn));
    CHECK(conversions_of(*believed) == "yes");
}

TEST_CASE("subgroups pass their trial in the kernels of software devices and of GPUs", "[vulkan][subgroup]") {
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
        CHECK(vulkan::subgroup_complaint(backend, {}).empty());
        const std::vector<std::string> kernels = backend.kernels();
        CHECK(std::count_if(kernels.begin(), kernels.end(), [](const std::string& kernel) {
                  return kernel.find("reduces by subgroups") != std::string::npos;
              }) == 4);
    }
}

TEST_CASE("the trial finds a subgroup kernel with one wrong number", "[vulkan][subgroup]") {
    if (!usable_device()) {
        return;
    }
    const VulkanDevices devices(environment_options());
    constexpr std::int64_t kLongRow = 1000;
    for (const auto& [op, least] :
         {std::pair{MaskedSoftmax::kName, std::int64_t{0}}, std::pair{MaskedSoftmax::kName, kLongRow},
          std::pair{LogSoftmaxTopK::kName, std::int64_t{0}}, std::pair{Attention::kName, std::int64_t{0}}}) {
        Errs backend(devices.open(0), op, least);
        CHECK_THAT(vulkan::subgroup_complaint(backend, {}),
                   Catch::StartsWith(std::string(op) + " by subgroups is off by "));
    }
}

TEST_CASE("a device whose subgroups err, or whose driver cannot compile them, is opened without them",
          "[vulkan][subgroup]") {
    const FakeMatrices matrices;
    for (const int fails_to_compile : {0, 1}) {
        FakeLoader fake({.devices = 2,
                         .keeps_specials = VK_TRUE,
                         .opens = true,
                         .matrices = &matrices,
                         .fails_to_compile = fails_to_compile});
        const Environment everything("HEADSCOPE_VULKAN_DISABLE", "");
        const Warnings warnings;
        const auto backend = open_vulkan_device(0, warnings.diagnostics());
        CHECK(feature_of(backend->device(), "subgroup arithmetic") == "switched off, subgroups failed the trial");
        for (const char* feature : {"subgroup shuffles", "cooperative matrices"}) {
            CHECK(feature_of(backend->device(), feature) == "switched off");
        }
        CHECK(feature_of(backend->device(), "NaN and infinities kept") == "yes");
        const std::vector<std::string>& paths = backend->device().paths;
        CHECK(std::count(paths.begin(), paths.end(), "no-subgroups") == 0);
        CHECK_THAT(warnings.text(), Catch::StartsWith("vulkan:0 (fake 1): subgroups disabled: ") &&
                                        Catch::Contains(fails_to_compile == 0 ? "masked_softmax by subgroups is off by "
                                                                              : "cannot compile the kernel ") &&
                                        Catch::EndsWith("HEADSCOPE_VULKAN_DISABLE=subgroups\n"));
    }
}

TEST_CASE("there is no trial on a software device, or if trials are disabled", "[vulkan][trial]") {
    FakeLoader fake({.devices = 2, .opens = true});
    const Warnings warnings;
    for (const int device : {0, 1}) {
        const Environment disable("HEADSCOPE_VULKAN_DISABLE", device == 0 ? "trials" : "");
        const auto backend = open_vulkan_device(device, warnings.diagnostics());
        CHECK(backend->device().software == (device == 1));
        CHECK(feature_of(backend->device(), "subgroup arithmetic") == "yes");
    }
    CHECK(warnings.text().empty());
    CHECK(fake->pipelines_begun == 0);
}

TEST_CASE("a device that is lost in a trial is an error, not a verdict", "[vulkan][trial]") {
    FakeLoader fake({.devices = 2, .opens = true, .submitting = VK_ERROR_DEVICE_LOST});
    const Environment everything("HEADSCOPE_VULKAN_DISABLE", "");
    const Warnings warnings;
    CHECK_THROWS_AS(open_vulkan_device(0, warnings.diagnostics()), DeviceLost);
    CHECK(warnings.text().empty());
    fake->submitting = VK_SUCCESS;
    const int begun = fake->pipelines_begun;
    (void)open_vulkan_device(0, warnings.diagnostics());
    CHECK(fake->pipelines_begun > begun);
}

TEST_CASE("a verdict is kept for the same device, options and program", "[vulkan][trial]") {
    FakeLoader fake({.devices = 2, .opens = true});
    const Environment everything("HEADSCOPE_VULKAN_DISABLE", "");
    // The number of kernels that opening the device compiles, which warns each time.
    const auto open = [&](const std::string& path = "") {
        const Warnings warnings;
        const int begun = fake->pipelines_begun;
        (void)VulkanDevices(environment_options(warnings.diagnostics())).open(0, path);
        CHECK_THAT(warnings.text(), Catch::Contains("subgroups disabled: masked_softmax by subgroups is off by "));
        return fake->pipelines_begun - begun;
    };
    CHECK(open() > 0);
    CHECK(open() == 0);
    CHECK(open("no-vector-loads") > 0);
    CHECK(open("no-vector-loads") == 0);
    {
        const Environment set("HEADSCOPE_VULKAN_MAX_GROUPS", "100");
        CHECK(open() > 0);
    }
    CHECK(open() == 0);
    {
        const Environment test("HEADSCOPE_VULKAN_TRIAL_ERROR", "0");
        CHECK(open() > 0);
        CHECK(open() > 0);
    }
    int damaged = 0;
    const std::string cache = std::string(std::getenv("XDG_CACHE_HOME")) + "/headscope";
    for (const auto& file : std::filesystem::directory_iterator(cache)) {
        if (file.path().string().ends_with(".trials.json")) {
            std::filesystem::resize_file(file.path(), 7);
            ++damaged;
        }
    }
    CHECK(damaged == 3);
    CHECK(open() > 0);
    CHECK(open() == 0);
}

TEST_CASE("a device whose matrices err in all tiles multiplies without them", "[vulkan][matmul]") {
    if (!usable_device()) {
        return;
    }
    const Environment err("HEADSCOPE_VULKAN_TRIAL_ERROR", "50");  // a fifth of F16's roundoff
    const Environment emulate("HEADSCOPE_VULKAN_EMULATE_MATRICES", "1");
    const Environment f16_alone("HEADSCOPE_VULKAN_DISABLE", "bf16_matrix");
    const Warnings warnings;
    const auto backend = open_vulkan_device(0, warnings.diagnostics());
    CHECK_THAT(kernels_of_product(*backend), Catch::StartsWith("matmul") && !Catch::Contains("matmul_cooperative"));
    CHECK_THAT(
        warnings.text(),
        Catch::StartsWith("vulkan:0 ") &&
            Catch::Contains(": matrices 64 by 4 disabled: a product of 64 x 64 x 32 in F32 by matrices 64 by 4 is "
                            "off by ") &&
            Catch::EndsWith("HEADSCOPE_VULKAN_DISABLE=cooperative_matrix\n"));
    CHECK_THAT(feature_of(backend->device(), vulkan::kMatrixFeature),
               Catch::Contains(", matrices 64 by 4 failed the trial, matrices 64 by 8 failed"));
    CHECK(backend->products(Compute::F16).level == SupportLevel::Composed);
}

TEST_CASE("BF16 matrices that err are disabled by trials of their own", "[vulkan][matmul]") {
    for (const bool multiplies_in_bf16 : {false, true}) {  // whatever is asked
        const vulkan::TrialDevice device{
            .probe =
                [](const vulkan::Options&) {
                    vulkan::Probe probed;
                    probed.capabilities.properties.limits.maxComputeSharedMemorySize = 65536;
                    probed.capabilities.properties.limits.maxComputeWorkGroupInvocations = 1024;
                    probed.info.features = {{vulkan::kMatrixFeature, "all"}, {vulkan::kBf16MatrixFeature, "all"}};
                    return probed;
                },
            .open = [&](const vulkan::Probe&, const vulkan::Options&) -> std::unique_ptr<Backend> {
                return std::make_unique<HostMatrices>(false, multiplies_in_bf16);
            }};
        const Warnings warnings;
        vulkan::Options options;
        options.emulated_matrices = true;
        options.cooperative_attention = false;
        options.trial_error = vulkan::TrialError{};
        options.diagnostics = warnings.diagnostics();
        const DeviceInfo info = vulkan::pass_trials(device, options).info;
        const std::vector<vulkan::MatrixTile> all(vulkan::kMatrixTiles.begin(), vulkan::kMatrixTiles.end());
        CHECK(options.wrong_tiles == (multiplies_in_bf16 ? all : std::vector<vulkan::MatrixTile>{}));
        CHECK(options.wrong_bf16_tiles == (multiplies_in_bf16 ? std::vector<vulkan::MatrixTile>{} : all));
        CHECK((feature_of(info, vulkan::kMatrixFeature) == "all") == !multiplies_in_bf16);
        CHECK((feature_of(info, vulkan::kBf16MatrixFeature) == "all") == multiplies_in_bf16);
        if (!multiplies_in_bf16) {
            CHECK_THAT(feature_of(info, vulkan::kBf16MatrixFeature),
                       Catch::StartsWith("all, matrices 64 by 4 in BF16 failed the trial, matrices 64 by 8 in BF16"));
            CHECK_THAT(warnings.text(), Catch::Contains(": matrices 128 by 8 in BF16 disabled: a product of ") &&
                                            Catch::EndsWith("HEADSCOPE_VULKAN_DISABLE=bf16_matrix\n"));
        }
    }
}

TEST_CASE("a device whose matrices err in some tiles multiplies in the others", "[vulkan][matmul]") {
    if (!usable_device()) {
        return;
    }
    const Environment err("HEADSCOPE_VULKAN_TRIAL_ERROR", "50/128");
    const Environment emulate("HEADSCOPE_VULKAN_EMULATE_MATRICES", "1");
    const Environment f16_alone("HEADSCOPE_VULKAN_DISABLE", "bf16_matrix");
    const Warnings warnings;
    const auto backend = open_vulkan_device(0, warnings.diagnostics());
    CHECK_THAT(kernels_of_product(*backend), Catch::StartsWith("matmul_cooperative_emulated, "));
    std::vector<std::string> ways = backend->product_ways()->ways();
    std::erase_if(ways, [](const std::string& way) { return way.find("matrices") == std::string::npos; });
    std::sort(ways.begin(), ways.end());
    CHECK(ways == std::vector<std::string>{"matrices 64 by 4", "matrices 64 by 8"});
    CHECK_THAT(warnings.text(), Catch::Contains(": matrices 128 by 4 disabled: a product of 136 x 140 x 48 in F32 ") &&
                                    Catch::Contains(": matrices 128 by 8 disabled: "));
    CHECK_THAT(feature_of(backend->device(), vulkan::kMatrixFeature),
               Catch::EndsWith(", matrices 128 by 4 failed the trial, matrices 128 by 8 failed the trial"));
}

TEST_CASE("each tile of the matrices multiplies in its trial, and passes it", "[vulkan][matmul]") {
    if (!usable_device()) {
        return;
    }
    const Environment emulate("HEADSCOPE_VULKAN_EMULATE_MATRICES", "1");
    const auto backend = open_vulkan_device(0);
    const std::size_t storages = backend->weights(DType::F16).level == SupportLevel::None ? 1 : 2;
    std::vector<std::pair<vulkan::MatrixTile, bool>> trials{{{}, true}};  // one in BF16, since the tiles are the same
    for (const vulkan::MatrixTile& tile : vulkan::kMatrixTiles) {
        trials.emplace_back(tile, false);
    }
    for (const auto& [tile, bf16] : trials) {
        backend->drain_kernel_names();
        CHECK(vulkan::matrix_complaint(*backend, {}, tile, bf16).empty());
        // One more in 16 bits, where rows of four are not all rows of 16 bytes.
        const std::size_t different = tile != vulkan::MatrixTile{} ? 6 * storages : storages == 1 ? 7 : 7 + 8;
        const std::vector<std::string> kernels = backend->drain_kernel_names();
        CHECK(std::count_if(kernels.begin(), kernels.end(), [](const std::string& kernel) {
                  return kernel.starts_with("matmul_cooperative_emulated, ");
              }) == static_cast<std::ptrdiff_t>(different));
    }
    const Environment try_them("HEADSCOPE_VULKAN_TRIAL_ERROR", "0");
    const Environment f16_alone("HEADSCOPE_VULKAN_DISABLE", "bf16_matrix");
    const Warnings warnings;
    CHECK_THAT(kernels_of_product(*open_vulkan_device(0, warnings.diagnostics())),
               Catch::StartsWith("matmul_cooperative_emulated, "));
    CHECK(warnings.text().empty());
}

TEST_CASE("matrices that flush subnormal F16 numbers to 0 fail their trial", "[vulkan][matmul]") {
    for (const bool flushes : {false, true}) {
        HostMatrices backend(flushes);
        const std::string complaint = vulkan::matrix_complaint(backend, {}, {}, false);
        CHECK((complaint.find("a product of 136 x 140 x 48 in F32") != std::string::npos) == flushes);
        CHECK(complaint.empty() == !flushes);
    }
    HostMatrices backend(false, true);
    CHECK(vulkan::matrix_complaint(backend, {}, {}, true).empty());
    vulkan::Options errs;
    errs.trial_error = vulkan::TrialError{.millionths = 50};
    CHECK_THAT(vulkan::matrix_complaint(backend, errs, {}, true),
               Catch::Contains(" in F32 by matrices 64 by 4 is off"));
}
