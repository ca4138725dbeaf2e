// Products in F16 by matrices that a subgroup shares: which kernel runs, and what becomes of a device whose matrices
// err. That the products are right tests/ops says, by every path.
#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "backend/product_ways.h"
#include "backends/vulkan/products/matrix_products.h"
#include "backends/vulkan/vulkan_backend.h"
#include "environment.h"
#include "fake_loader.h"
#include "registry/registry.h"
#include "streamed.h"
#include "support/random.h"
#include "tensor/dtype.h"
#include "tests/backend/forwarding_backend.h"

using namespace headscope;
using headscope::vulkan_tests::Environment;
using headscope::vulkan_tests::FakeLoader;
using headscope::vulkan_tests::feature_of;
using headscope::vulkan_tests::usable_device;

namespace {

struct Ran {
    std::vector<float> values;
    std::string kernels;
};

Ran product(Backend& backend, Compute compute, std::int64_t rows = 20) {
    Random random(7);
    const auto noise = [&](const Shape& shape) {
        std::vector<float> values(static_cast<std::size_t>(shape.elements()));
        std::generate(values.begin(), values.end(),
                      [&] { return static_cast<float>(random.below(2001)) / 1000.0F - 1.0F; });
        return make_from_host(backend, shape, DType::F32, values);
    };
    const Matmul op{.a = noise({rows, 40}),
                    .b = noise({24, 40}),
                    .out = noise({rows, 24}),
                    .transpose_b = true,
                    .compute = compute};
    (void)backend.products(compute);  // holds the trial, whose kernels are not what is asked for
    backend.take_kernels();
    backend.run(op);
    Ran ran{to_host<float>(backend, op.out), ""};
    for (const std::string& kernel : backend.take_kernels()) {
        ran.kernels += kernel + "; ";
    }
    return ran;
}

std::string matrices_of(const Backend& backend) {
    return feature_of(backend.device(), vulkan::kMatrixFeature);
}

double farthest(const std::vector<float>& a, const std::vector<float>& b) {
    REQUIRE(a.size() == b.size());
    double most = 0.0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        most = std::max(most, std::abs(double{a[i]} - double{b[i]}));
    }
    return most;
}

}  // namespace

TEST_CASE("products in F16 alone go by matrices, and equal the plain ones but for the order of sums",
          "[vulkan][matmul]") {
    if (!usable_device()) {
        return;
    }
    const Warnings said;
    const VulkanDevices devices(environment_options(said.diagnostics()));
    const auto emulated = devices.open(0, "cooperative-matrix-emulated");
    const Environment disable("HEADSCOPE_VULKAN_DISABLE", "cooperative_matrix");
    const auto plain = open_vulkan_device(0);
    const Ran by_matrices = product(*emulated, Compute::F16);
    const Ran by_numbers = product(*plain, Compute::F16);
    CHECK_THAT(by_matrices.kernels,
               Catch::Matches("matmul_cooperative_emulated, 64 lanes, constants 16 8 16 8 111(, [^;]*)?; .*"));
    CHECK_THAT(by_numbers.kernels, !Catch::Contains("matmul_cooperative"));
    CHECK(farthest(by_matrices.values, by_numbers.values) < 1e-5);
    CHECK(farthest(by_matrices.values, product(*plain, Compute::F32).values) > 1e-5);
    for (const Compute compute : {Compute::F32, Compute::BF16}) {
        CHECK_THAT(product(*emulated, compute).kernels, !Catch::Contains("matmul_cooperative"));
    }
    CHECK_THAT(product(*emulated, Compute::F16, 4).kernels, !Catch::Contains("matmul_cooperative"));
    CHECK(said.text().empty());
    // Numbers in the place of matrices are no native products.
    CHECK(emulated->products(Compute::F16).level == SupportLevel::Composed);
    CHECK(plain->products(Compute::F16).level == SupportLevel::Composed);
}

TEST_CASE("in every tile matrices give the same sums", "[vulkan][matmul]") {
    if (!usable_device()) {
        return;
    }
    const VulkanDevices devices(environment_options());
    const auto emulated = devices.open(0, "cooperative-matrix-emulated");
    const Environment disable("HEADSCOPE_VULKAN_DISABLE", "cooperative_matrix");
    const auto plain = open_vulkan_device(0);
    const std::int64_t rows = 150;
    const Ran by_numbers = product(*plain, Compute::F16, rows);
    ProductWays& ways = *emulated->product_ways();
    (void)product(*emulated, Compute::F16, rows);
    std::set<std::string> kernels;
    for (const char* tile : {"64 by 4", "64 by 8", "128 by 4", "128 by 8"}) {
        const std::string way = std::string("matrices ") + tile;
        const std::vector<std::string> known = ways.ways();
        REQUIRE(std::find(known.begin(), known.end(), way) != known.end());
        ways.force(way);
        const Ran ran = product(*emulated, Compute::F16, rows);
        INFO(way);
        CHECK(kernels.insert(ran.kernels).second);
        CHECK(farthest(ran.values, by_numbers.values) < 1e-5);
    }
    ways.force("");
    CHECK(ways.ways().front() == "matrices 64 by 8");
}

TEST_CASE("a device whose matrices err goes without them, and says so once", "[vulkan][matmul]") {
    if (!usable_device()) {
        return;
    }
    const Environment err("HEADSCOPE_VULKAN_TRIAL_ERROR", "50");  // a fifth of F16's roundoff
    const Environment emulate("HEADSCOPE_VULKAN_EMULATE_MATRICES", "1");
    const Warnings said;
    const auto backend = open_vulkan_device(0, said.diagnostics());
    CHECK_THAT(product(*backend, Compute::F32).kernels, !Catch::Contains("matmul_cooperative"));
    CHECK(said.text().empty());  // nothing is tried before it is needed
    for (int time = 0; time < 2; ++time) {
        CHECK_THAT(product(*backend, Compute::F16).kernels,
                   Catch::StartsWith("matmul") && !Catch::Contains("matmul_cooperative"));
    }
    CHECK_THAT(
        said.text(),
        Catch::StartsWith("vulkan:0 ") &&
            Catch::Contains(" does without its cooperative matrices: a product of 64 x 64 x 32 in F32 by matrices "
                            "64 by 4 is off by ") &&
            Catch::EndsWith("HEADSCOPE_VULKAN_DISABLE=cooperative_matrix\n"));
    CHECK(matrices_of(*backend) == "fail their trial");
    const Support support = backend->products(Compute::F16);
    CHECK(support.level == SupportLevel::Composed);
    CHECK_THAT(support.reason, Catch::Contains("matrices err"));
}

TEST_CASE("a device whose matrices err in some tiles goes without those", "[vulkan][matmul]") {
    if (!usable_device()) {
        return;
    }
    const Environment err("HEADSCOPE_VULKAN_TRIAL_ERROR", "50/128");
    const Environment emulate("HEADSCOPE_VULKAN_EMULATE_MATRICES", "1");
    const Warnings said;
    const auto backend = open_vulkan_device(0, said.diagnostics());
    CHECK_THAT(product(*backend, Compute::F16, 150).kernels, Catch::StartsWith("matmul_cooperative_emulated, "));
    std::vector<std::string> ways = backend->product_ways()->ways();
    std::erase_if(ways, [](const std::string& way) { return way.find("matrices") == std::string::npos; });
    std::sort(ways.begin(), ways.end());
    CHECK(ways == std::vector<std::string>{"matrices 64 by 4", "matrices 64 by 8"});
    CHECK_THAT(said.text(), Catch::Contains(" does without matrices 128 by 4: a product of 136 x 140 x 48 in F32 ") &&
                                Catch::Contains(" does without matrices 128 by 8: "));
    CHECK_THAT(matrices_of(*backend), Catch::EndsWith(", without matrices 128 by 4, without matrices 128 by 8"));
}

TEST_CASE("matrices that multiply as the host does pass their trial", "[vulkan][matmul]") {
    if (!usable_device()) {
        return;
    }
    const Environment try_them("HEADSCOPE_VULKAN_TRIAL_ERROR", "0");
    const Environment emulate("HEADSCOPE_VULKAN_EMULATE_MATRICES", "1");
    const Warnings said;
    const auto backend = open_vulkan_device(0, said.diagnostics());
    backend->take_kernels();
    (void)backend->products(Compute::F16);
    // It was held, of operands that lie in seven ways and in three further tiles in five ways each, in F32 and in F16
    // where that can be stored.
    CHECK(backend->take_kernels().size() == (backend->weights(DType::F16).level == SupportLevel::None ? 22 : 44));
    CHECK_THAT(product(*backend, Compute::F16).kernels, Catch::StartsWith("matmul_cooperative_emulated, "));
    CHECK(said.text().empty());
}

namespace {

// Settles how F16 is widened with its first such tensor, as a Vulkan backend does, and computes nothing.
class SettlesHalves final : public ForwardingBackend {
public:
    explicit SettlesHalves(vulkan::Pipelines& pipelines)
        : ForwardingBackend(open_device("cpu")), pipelines_(pipelines) {}
    Tensor empty(const Shape& shape, DType dtype) override {
        pipelines_.convert_halves(dtype == DType::F16);
        return ForwardingBackend::empty(shape, DType::F32);
    }
    void run(const Matmul& /*op*/) override { throw Error("it computes nothing"); }

private:
    vulkan::Pipelines& pipelines_;
};

}  // namespace

TEST_CASE("a trial compiles the kernels that it is to run, however F16 is widened", "[vulkan][matmul]") {
    FakeLoader fake({.devices = 1, .opens = true});
    vulkan_tests::Streamed made(0);
    SettlesHalves backend(made.pipelines);
    vulkan::ProductDevice device;
    device.matrices = vulkan::MatrixDevice{
        .sizes = {16, 8, 16}, .subgroup_size = 8, .shared_bytes = 65536, .most_invocations = 1024, .emulated = true};
    vulkan::Options options;
    options.trial_error = vulkan::TrialError{};
    DeviceInfo info;
    vulkan::MatrixProducts products(backend, device, made.pipelines, true, options, info);
    CHECK_THROWS_WITH(products.usable(), "it computes nothing");
    const int compiled = fake->pipelines_begun;
    CHECK(compiled > 0);
    vulkan::ProductShape shape;
    shape.m = 136;
    shape.n = 140;
    shape.k = 48;
    shape.a_along_k = shape.b_along_k = shape.a_in_fours = shape.b_in_fours = true;
    for (const vulkan::MatrixTile& tile : vulkan::matrix_tiles(*device.matrices)) {
        const vulkan::ProductPlan plan = vulkan::plan_product(
            device, shape,
            {.kernel = vulkan::ProductKernel::Matrices, .block = tile.side, .subgroups = tile.subgroups});
        vulkan::Specialisation specialisation = plan.specialisation;
        specialisation.storage = DType::F16;
        specialisation.converts_halves = true;
        made.pipelines.get(plan.kernel, specialisation);
    }
    CHECK(fake->pipelines_begun == compiled);
}

namespace {

// Multiplies on the host in the place of matrices, which may take subnormal operands for 0.
class HostMatrices final : public ForwardingBackend {
public:
    explicit HostMatrices(bool flushes) : ForwardingBackend(open_device("cpu")), flushes_(flushes) {}
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
            value = from_f16(to_f16(value));
            value = flushes_ && std::abs(value) < 0x1p-14F ? 0.0F : value;
        }
        return make_from_host(*this, tensor.shape, DType::F32, values);
    }

    const bool flushes_;
};

}  // namespace

TEST_CASE("matrices that take F16's subnormal numbers for 0 fail their trial", "[vulkan][matmul]") {
    for (const bool flushes : {false, true}) {
        FakeLoader fake({.devices = 1, .opens = true});
        const Warnings said;
        vulkan_tests::Streamed made(0);
        HostMatrices backend(flushes);
        vulkan::ProductDevice device;
        device.matrices = vulkan::MatrixDevice{.sizes = {16, 8, 16},
                                               .subgroup_size = 8,
                                               .shared_bytes = 65536,
                                               .most_invocations = 1024,
                                               .emulated = true};
        vulkan::Options options;
        options.trial_error = vulkan::TrialError{};
        options.diagnostics = said.diagnostics();
        DeviceInfo info;
        info.features = {{vulkan::kMatrixFeature, "16 x 8 x 16"}};
        vulkan::MatrixProducts products(backend, device, made.pipelines, false, options, info);
        CHECK(products.usable() == !flushes);
        CHECK((said.text().find("a product of 136 x 140 x 48 in F32") != std::string::npos) == flushes);
    }
}

TEST_CASE("products in F16 are native where the device has matrices, and not where they are switched off",
          "[vulkan][matmul]") {
    if (!usable_device()) {
        return;
    }
    const auto backend = open_vulkan_device(0);
    if (matrices_of(*backend).find(" x ") == std::string::npos) {
        WARN("SKIPPED: the device has no cooperative matrices: " << matrices_of(*backend));
        return;
    }
    CHECK(backend->products(Compute::F16).level == SupportLevel::Native);
    CHECK_THAT(product(*backend, Compute::F16).kernels, Catch::StartsWith("matmul_cooperative, "));
    for (const char* part : {"cooperative_matrix", "subgroups"}) {
        const Environment disable("HEADSCOPE_VULKAN_DISABLE", part);
        const auto plain = open_vulkan_device(0);
        CHECK(plain->products(Compute::F16).level == SupportLevel::Composed);
        CHECK(matrices_of(*plain) == "switched off");
        CHECK(farthest(product(*backend, Compute::F16).values, product(*plain, Compute::F16).values) < 1e-5);
    }
}
