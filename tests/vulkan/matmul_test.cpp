// Every product kernel compared with the plain one: the same sums in the same order, so the same bits. Except for few
// rows, whose sums are split.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>

#include "backend/ops/matmul.h"
#include "backends/vulkan/device/options.h"
#include "backends/vulkan/vulkan_backend.h"
#include "environment.h"
#include "support/random.h"

using namespace headscope;
using headscope::vulkan_tests::Environment;
using headscope::vulkan_tests::usable_device;

namespace {

struct Sizes {
    std::int64_t m, n, k;
};

constexpr std::int64_t kOuter = 2;
constexpr std::int64_t kInner = 3;

std::vector<float> noise(std::int64_t count, std::uint64_t seed) {
    Random random(seed);
    std::vector<float> values(static_cast<std::size_t>(count));
    for (float& value : values) {
        value = static_cast<float>(random.below(2001)) / 1000.0F - 1.0F;
    }
    return values;
}

// Operands are views into wider rows, four elements from their start; [outer, inner, rows, columns].
Tensor operand(Backend& backend, std::int64_t rows, std::int64_t columns, std::uint64_t seed) {
    const Shape wide{kOuter, kInner, rows, columns + 8};
    return make_from_host(backend, wide, DType::F32, noise(wide.elements(), seed)).narrow(3, 4, columns);
}

std::vector<float> product(Backend& backend, const Sizes& size, bool transpose_a, bool transpose_b, Compute compute) {
    Matmul op;
    op.a = transpose_a ? operand(backend, size.k, size.m, 1) : operand(backend, size.m, size.k, 1);
    op.b = transpose_b ? operand(backend, size.n, size.k, 2) : operand(backend, size.k, size.n, 2);
    op.out = operand(backend, size.m, size.n, 3);
    op.transpose_a = transpose_a;
    op.transpose_b = transpose_b;
    op.alpha = 0.5F;
    op.beta = 2.0F;
    op.compute = compute;
    backend.run(op);
    return to_host<float>(backend, op.out);
}

// One entry of the product in double, from the same numbers.
double expected(const Sizes& size, bool transpose_a, bool transpose_b, std::int64_t batch, std::int64_t row,
                std::int64_t column) {
    const auto at = [batch](const std::vector<float>& values, std::int64_t rows, std::int64_t columns, std::int64_t i,
                            std::int64_t j) {
        return double{values[static_cast<std::size_t>((batch * rows + i) * (columns + 8) + 4 + j)]};
    };
    const auto count = [](std::int64_t rows, std::int64_t columns) { return kOuter * kInner * rows * (columns + 8); };
    const std::vector<float> a = noise(transpose_a ? count(size.k, size.m) : count(size.m, size.k), 1);
    const std::vector<float> b = noise(transpose_b ? count(size.n, size.k) : count(size.k, size.n), 2);
    const std::vector<float> out = noise(count(size.m, size.n), 3);
    double sum = 0.0;
    for (std::int64_t k = 0; k < size.k; ++k) {
        sum += (transpose_a ? at(a, size.k, size.m, k, row) : at(a, size.m, size.k, row, k)) *
               (transpose_b ? at(b, size.n, size.k, column, k) : at(b, size.k, size.n, k, column));
    }
    return 0.5 * sum + 2.0 * at(out, size.m, size.n, row, column);
}

}  // namespace

TEST_CASE("every product kernel gives the same bits", "[vulkan][matmul]") {
    if (!usable_device()) {
        return;
    }
    const std::string path =
        GENERATE(as<std::string>{}, "", "shared-tiles", "no-shared-tiles", "no-subgroups", "no-texel-loads");
    INFO("path " << path);
    const VulkanDevices devices(environment_options());
    const auto fast = devices.open(0, path);
    const Environment disable("HEADSCOPE_VULKAN_DISABLE", "vector_loads,subgroups");
    const auto plain = VulkanDevices(environment_options()).open(0, "no-shared-tiles");
    for (const Sizes& size : {Sizes{1, 20, 12}, Sizes{4, 36, 8}, Sizes{12, 4, 20}, Sizes{36, 28, 16}, Sizes{5, 7, 4},
                              Sizes{20, 20, 6}, Sizes{68, 140, 36}, Sizes{9, 33, 20}}) {
        for (const int transposes : {0, 1, 2, 3}) {
            const bool a = (transposes & 1) != 0;
            const bool b = (transposes & 2) != 0;
            INFO(size.m << " x " << size.n << " x " << size.k << ", transposes " << a << b);
            const std::vector<float> got = product(*fast, size, a, b, Compute::F32);
            const std::vector<float> wanted = product(*plain, size, a, b, Compute::F32);
            REQUIRE(got.size() == wanted.size());
            CHECK(std::memcmp(got.data(), wanted.data(), got.size() * sizeof(float)) == 0);
            const std::int64_t last = kOuter * kInner - 1;
            CHECK(got.back() == Approx(expected(size, a, b, last, size.m - 1, size.n - 1)).margin(1e-5));
            CHECK(got.front() == Approx(expected(size, a, b, 0, 0, 0)).margin(1e-5));
        }
        const std::vector<float> got = product(*fast, size, false, true, Compute::BF16);
        const std::vector<float> wanted = product(*plain, size, false, true, Compute::BF16);
        CHECK(std::memcmp(got.data(), wanted.data(), got.size() * sizeof(float)) == 0);
        CHECK(got != product(*fast, size, false, true, Compute::F32));
    }
}

TEST_CASE("few rows times a weight have the bits of single rows, however they are loaded", "[vulkan][matmul]") {
    if (!usable_device()) {
        return;
    }
    const Environment tiles("HEADSCOPE_VULKAN_TILES", "shared");  // treats a device as one with many cores
    const VulkanDevices devices(environment_options());
    const auto device = devices.open(0, "no-fused-attention");  // does not affect products, but disables tuning
    const auto plain = devices.open(0, "no-texel-loads");
    const auto run = [](Backend& backend, std::int64_t rows) {
        const std::int64_t k = 1024;
        const Matmul op{.a = make_from_host(backend, {rows, k}, DType::F32, noise(rows * k, 1)),
                        .b = make_from_host(backend, {37, k}, DType::F32, noise(37 * k, 2)),
                        .out = backend.empty({rows, 37}, DType::F32),
                        .transpose_b = true};
        (void)backend.drain_kernel_names();
        backend.run(op);
        const std::vector<std::string> kernels = backend.drain_kernel_names();
        REQUIRE(kernels.size() == 1);
        CHECK_THAT(kernels[0], Catch::StartsWith("matmul_rows, "));
        return to_host<float>(backend, op.out);
    };
    const std::vector<float> four = run(*device, 4);
    for (const std::int64_t rows : {1, 2, 3, 4}) {
        const std::vector<float> some = run(*device, rows);
        CHECK(some == run(*plain, rows));
        CHECK(std::equal(some.begin(), some.end(), four.begin()));
    }
}

TEST_CASE("a fused linear layer has the bits of a product followed by bias and activation", "[vulkan][linear]") {
    if (!usable_device()) {
        return;
    }
    const std::string path = GENERATE(as<std::string>{}, "", "shared-tiles", "no-shared-tiles", "no-subgroups",
                                      "no-texel-loads", "no-vector-loads", "cooperative-matrix-emulated");
    INFO("path " << path);
    const VulkanDevices devices(environment_options());
    const auto backend = devices.open(0, path);
    for (const Sizes& size : {Sizes{1, 40, 64}, Sizes{3, 37, 64}, Sizes{3, 37, 20}, Sizes{40, 70, 50},
                              Sizes{33, 64, 32}, Sizes{6, 70, 256}}) {
        for (const Activation activation : {Activation::None, Activation::Relu}) {
            for (const bool bias : {true, false}) {
                INFO(size.m << " x " << size.n << " x " << size.k << ", bias " << bias);
                const auto of = [&](const Shape& shape, std::uint64_t seed) {
                    return make_from_host(*backend, shape, DType::F32, noise(shape.elements(), seed));
                };
                const Linear op{.x = of({size.m, size.k}, 1),
                                .weight = of({size.n, size.k}, 2),
                                .bias = bias ? of({size.n}, 3) : Tensor(),
                                .y = backend->empty({size.m, size.n}, DType::F32),
                                .activation = activation,
                                .compute = Compute::F16};
                (void)backend->drain_kernel_names();
                backend->run(op);
                for (const std::string& kernel : backend->drain_kernel_names()) {
                    // A GPU has more cores than so few workgroups would use.
                    const bool many_cores = path == "shared-tiles" || !backend->device().software;
                    const bool in_parts = size.k == 256 && many_cores;
                    CHECK((in_parts || kernel.rfind("matmul", 0) == 0));
                }
                const std::vector<float> fused = to_host<float>(*backend, op.y);
                backend->Backend::run(op);
                const std::vector<float> composed = to_host<float>(*backend, op.y);
                CHECK(std::memcmp(fused.data(), composed.data(), fused.size() * sizeof(float)) == 0);
            }
        }
    }
}

TEST_CASE("a long sum in parts equals the sum", "[vulkan][matmul]") {
    if (!usable_device()) {
        return;
    }
    const VulkanDevices devices(environment_options());
    const auto tiles = devices.open(0, "shared-tiles");  // treats a device as one with many cores
    const auto plain = devices.open(0, "no-shared-tiles");
    const std::int64_t k = 1024;
    const bool batches = GENERATE(false, true);  // of one product each
    for (const int transposes : {0, 1, 2, 3}) {
        for (const float beta : {0.0F, 1.0F, 0.5F}) {
            const auto run = [&](Backend& backend) {
                Matmul op;
                op.transpose_a = (transposes & 1) != 0;
                op.transpose_b = (transposes & 2) != 0;
                const auto matrix = [&](const Shape& shape, std::uint64_t seed) {
                    const Shape whole = batches ? Shape{1, 1, shape[0], shape[1]} : shape;
                    return make_from_host(backend, whole, DType::F32, noise(shape.elements(), seed));
                };
                op.a = op.transpose_a ? matrix({k, 6}, 1) : matrix({6, k}, 1);
                op.b = op.transpose_b ? matrix({10, k}, 2) : matrix({k, 10}, 2);
                op.out = matrix({6, 10}, 3);
                op.alpha = 2.0F;
                op.beta = beta;
                (void)backend.drain_kernel_names();
                backend.run(op);
                return to_host<float>(backend, op.out);
            };
            INFO("transposes " << transposes << ", beta " << beta);
            const std::vector<float> wanted = run(*plain);
            CHECK(run(*tiles) == run(*tiles));
            const std::vector<float> got = run(*tiles);
            for (std::size_t i = 0; i < wanted.size(); ++i) {
                CHECK(got[i] == Approx(wanted[i]).margin(2e-4));
            }
            const std::vector<std::string> kernels = tiles->drain_kernel_names();
            CHECK(std::any_of(kernels.begin(), kernels.end(),
                              [](const std::string& kernel) { return kernel.find("sum_rows") != std::string::npos; }));
        }
    }
}

TEST_CASE("a product whose operand is one row larger than a binding is cut at that row", "[vulkan][matmul]") {
    if (!usable_device()) {
        return;
    }
    const Environment binding("HEADSCOPE_VULKAN_MAX_BINDING", "4096");  // 1,024 elements and less
    const auto backend = open_vulkan_device(0);
    for (const Sizes& size : {Sizes{1, 1, 3001}, Sizes{1, 3, 2500}, Sizes{3, 1, 2500}, Sizes{1, 2500, 1},
                              Sizes{2500, 1, 1}, Sizes{1, 2500, 2}, Sizes{2, 1300, 1}, Sizes{40, 40, 40}}) {
        for (const int transposes : {0, 1, 2, 3}) {
            const bool a = (transposes & 1) != 0;
            const bool b = (transposes & 2) != 0;
            INFO(size.m << " x " << size.n << " x " << size.k << ", transposes " << a << b);
            const std::vector<float> got = product(*backend, size, a, b, Compute::F32);
            const std::int64_t last = kOuter * kInner - 1;
            CHECK(got.front() == Approx(expected(size, a, b, 0, 0, 0)).margin(1e-4));
            CHECK(got.back() == Approx(expected(size, a, b, last, size.m - 1, size.n - 1)).margin(1e-4));
        }
    }
}

TEST_CASE("matrices read F16 storage directly, even if only F16 fits a binding", "[vulkan][matmul]") {
    if (!usable_device()) {
        return;
    }
    const bool linear = GENERATE(false, true);
    const Environment binding("HEADSCOPE_VULKAN_MAX_BINDING", "8192");
    const VulkanDevices devices(environment_options());
    const auto matrices = devices.open(0, "cooperative-matrix-emulated");
    const auto plain = devices.open(0, "no-shared-tiles");
    if (const Support f16 = matrices->support(OpId::Matmul, DType::F16); f16.level == SupportLevel::None) {
        WARN("SKIPPED: " << f16.reason);
        return;
    }
    // 40 x 40 elements are 6,400 bytes in F32; 60 x 60 are 7,200 in F16, and twice that in F32, which does not fit.
    for (const Sizes& size : {Sizes{40, 40, 40}, Sizes{60, 20, 60}, Sizes{20, 60, 60}, Sizes{60, 60, 20}}) {
        INFO(size.m << " x " << size.n << " x " << size.k << (linear ? " of a layer" : ""));
        const auto run = [&](Backend& backend) {
            const auto of = [&](std::int64_t rows, std::int64_t columns, std::uint64_t seed) {
                return make_from_host(backend, {rows, columns}, DType::F16, noise(rows * columns, seed));
            };
            const Tensor x = of(size.m, size.k, 1);
            const Tensor weight = of(size.n, size.k, 2);
            const Tensor y = of(size.m, size.n, 3);
            (void)backend.drain_kernel_names();
            if (linear) {
                backend.run(Linear{.x = x, .weight = weight, .y = y, .activation = Activation::Relu});
            } else {
                backend.run(Matmul{.a = x, .b = weight, .out = y, .transpose_b = true, .beta = 1.0F});
            }
            return to_host<float>(backend, y);
        };
        const std::vector<float> got = run(*matrices);
        const std::vector<std::string> kernels = matrices->drain_kernel_names();
        REQUIRE(kernels.size() == 1);  // nothing is converted in addition
        CHECK_THAT(kernels[0], Catch::StartsWith("matmul_cooperative_emulated, ") && Catch::EndsWith(", F16"));
        const std::vector<float> wanted = run(*plain);
        for (std::size_t i = 0; i < wanted.size(); ++i) {
            CHECK(got[i] == Approx(wanted[i]).epsilon(2e-3).margin(2e-3));
        }
    }
}
