// F16 products by cooperative matrices: which kernel runs. tests/ops compares the results with the oracle.
#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "backend/ops/matmul.h"
#include "backend/product_ways.h"
#include "backends/vulkan/vulkan_backend.h"
#include "environment.h"
#include "support/random.h"

using namespace headscope;
using headscope::vulkan_tests::Environment;
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
    backend.drain_kernel_names();
    backend.run(op);
    Ran ran{to_host<float>(backend, op.out), ""};
    for (const std::string& kernel : backend.drain_kernel_names()) {
        ran.kernels += kernel + "; ";
    }
    return ran;
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

TEST_CASE("products in 16 bits use matrices, and equal plain ones except for the order of sums", "[vulkan][matmul]") {
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
               Catch::Matches("matmul_cooperative_emulated, 64 lanes, constants 16 8 16 8 831(, [^;]*)?; .*"));
    CHECK_THAT(by_numbers.kernels, !Catch::Contains("matmul_cooperative"));
    CHECK(farthest(by_matrices.values, by_numbers.values) < 1e-5);
    CHECK(farthest(by_matrices.values, product(*plain, Compute::F32).values) > 1e-5);
    const Ran in_bf16 = product(*emulated, Compute::BF16);
    CHECK_THAT(in_bf16.kernels, Catch::Contains("constants 16 8 16 8 895"));
    CHECK(farthest(in_bf16.values, product(*plain, Compute::BF16).values) < 1e-5);
    CHECK(farthest(in_bf16.values, by_numbers.values) > 1e-5);
    CHECK_THAT(product(*emulated, Compute::F32).kernels, !Catch::Contains("matmul_cooperative"));
    const Environment no_bf16("HEADSCOPE_VULKAN_DISABLE", "bf16_matrix");
    const VulkanDevices without(environment_options());
    const auto halves = without.open(0, "cooperative-matrix-emulated");
    CHECK_THAT(product(*halves, Compute::BF16).kernels, !Catch::Contains("matmul_cooperative"));
    CHECK_THAT(product(*emulated, Compute::F16, 4).kernels, !Catch::Contains("matmul_cooperative"));
    CHECK(said.text().empty());
    // Emulated matrices are not native products.
    CHECK(emulated->products(Compute::F16).level == SupportLevel::Composed);
    CHECK(plain->products(Compute::F16).level == SupportLevel::Composed);
}

TEST_CASE("matrices give the same sums in every tile", "[vulkan][matmul]") {
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

TEST_CASE("F16 products are native if the device has matrices and they are enabled", "[vulkan][matmul]") {
    if (!usable_device()) {
        return;
    }
    const auto backend = open_vulkan_device(0);
    if (feature_of(backend->device(), vulkan::kMatrixFeature).find(" x ") == std::string::npos) {
        WARN("SKIPPED: the device has no cooperative matrices: " << feature_of(backend->device(),
                                                                               vulkan::kMatrixFeature));
        return;
    }
    CHECK(backend->products(Compute::F16).level == SupportLevel::Native);
    CHECK_THAT(product(*backend, Compute::F16).kernels, Catch::StartsWith("matmul_cooperative, "));
    for (const char* part : {"cooperative_matrix", "subgroups"}) {
        const Environment disable("HEADSCOPE_VULKAN_DISABLE", part);
        const auto plain = open_vulkan_device(0);
        CHECK(plain->products(Compute::F16).level == SupportLevel::Composed);
        CHECK(feature_of(plain->device(), vulkan::kMatrixFeature) == "switched off");
        CHECK(farthest(product(*backend, Compute::F16).values, product(*plain, Compute::F16).values) < 1e-5);
    }
}
