// Arithmetic shared by kernels, which also compiles for the host, compared with tensor/dtype.h, the oracle's dropout
// and the C library in double precision.
#include "backends/cuda/storage.h"

#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "backends/cuda/activation.h"
#include "backends/cuda/dropout.h"

using namespace headscope;
using cuda::BFloat16;
using cuda::Half;

namespace {

std::vector<float> floats_of_all_kinds() {
    std::vector<float> values;
    // Every exponent and sign, with fractions on both sides of the ties of both 16-bit types.
    for (std::uint32_t high = 0; high < 0x10000; high += 7) {
        for (const std::uint32_t low : {0U, 1U, 0x0FFFU, 0x1000U, 0x1001U, 0x7FFFU, 0x8000U, 0x8001U, 0xFFFFU}) {
            values.push_back(cuda::bits_to_float(high << 16U | low));
        }
    }
    return values;
}

}  // namespace

TEST_CASE("F32 is rounded to BF16 and F16 as on the host", "[storage]") {
    for (const float value : floats_of_all_kinds()) {
        BFloat16 bf16{};
        cuda::from_float(value, bf16);
        REQUIRE(bf16.bits == to_bf16(value));
        Half half{};
        cuda::from_float(value, half);
        REQUIRE(half.bits == to_f16(value));
    }
}

TEST_CASE("every BF16 and F16 widens as on the host", "[storage]") {
    for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
        const auto pattern = static_cast<std::uint16_t>(bits);
        REQUIRE(cuda::float_to_bits(cuda::to_float(BFloat16{pattern})) == cuda::float_to_bits(from_bf16(pattern)));
        REQUIRE(cuda::float_to_bits(cuda::to_float(Half{pattern})) == cuda::float_to_bits(from_f16(pattern)));
    }
}

TEST_CASE("a pack stores and adds its lanes", "[storage]") {
    alignas(16) std::array<Half, 8> memory{};
    const float first[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    cuda::store<8>(first, memory.data());
    cuda::store<8>(first, memory.data(), true);
    float read[8];
    cuda::load<8>(memory.data(), read);
    for (int i = 0; i < 8; ++i) {
        CHECK(read[i] == 2.0F * first[i]);
    }
    static_assert(alignof(cuda::Pack<float, 8>) == 16);
    static_assert(alignof(cuda::Pack<Half, 1>) == 2);
}

TEST_CASE("dropout draws the same bits one by one and in packs", "[dropout]") {
    const std::int32_t step = 5;
    const std::array<std::int32_t, 3> ordinals{7, 0, 90001};
    cuda::DropoutKernel rule;
    rule.on = true;
    rule.threshold = dropout_threshold(0.3F);
    rule.seed = 11;
    rule.site = 3;
    rule.scale = 2.0F;
    rule.step = &step;
    rule.ordinals = ordinals.data();
    int kept = 0;
    for (std::int64_t column = 0; column < 4096; column += 8) {
        float pack[8] = {1, 1, 1, 1, 1, 1, 1, 1};
        cuda::drop<8>(rule, 2, 4, 17, column, pack);
        for (int i = 0; i < 8; ++i) {
            float one[1] = {1};
            cuda::drop<1>(rule, 2, 4, 17, column + i, one);
            REQUIRE(one[0] == pack[i]);
            // The words of the rule's definition (backend/dropout_rule.h).
            const auto c = static_cast<std::uint32_t>(column + i);
            const PhiloxCounter words = philox({c / 8, (4U << 16U) | 17U, 90001U, 3U}, {11U, 5U});
            const std::uint32_t bits = c % 2 == 0 ? words[c % 8 / 2] & 0xFFFFU : words[c % 8 / 2] >> 16U;
            REQUIRE(one[0] == (bits >= rule.threshold ? 2.0F : 0.0F));
            kept += one[0] != 0.0F ? 1 : 0;
        }
    }
    CHECK(kept == Approx(0.7 * 4096).margin(4 * std::sqrt(0.3 * 0.7 * 4096)));
    rule.on = false;
    float untouched[1] = {3};
    cuda::drop<1>(rule, 0, 0, 0, 0, untouched);
    CHECK(untouched[0] == 3.0F);
}

TEST_CASE("activations and their derivatives follow their definitions", "[activation]") {
    for (double x = -8.0; x <= 8.0; x += 0.125) {
        const auto value = static_cast<float>(x);
        const double phi = 0.5 * std::erfc(-x / std::sqrt(2.0));
        const double density = std::exp(-x * x / 2) / std::sqrt(2 * 3.14159265358979323846);
        const double sigmoid = 1 / (1 + std::exp(-x));
        const auto near = [](float got, double wanted) {
            return std::abs(got - wanted) <= 1e-6 * (1 + std::abs(wanted));
        };
        CHECK(near(cuda::activate(Activation::Gelu, value), x * phi));
        CHECK(near(cuda::derivative(Activation::Gelu, value), phi + x * density));
        CHECK(near(cuda::activate(Activation::Swish, value), x * sigmoid));
        CHECK(near(cuda::derivative(Activation::Swish, value), sigmoid + x * sigmoid * (1 - sigmoid)));
        const double tanh = std::tanh(std::sqrt(2 / 3.14159265358979323846) * (x + 0.044715 * x * x * x));
        CHECK(near(cuda::activate(Activation::GeluTanh, value), 0.5 * x * (1 + tanh)));
        CHECK(near(cuda::derivative(Activation::GeluTanh, value),
                   0.5 * (1 + tanh) + 0.5 * x * (1 - tanh * tanh) * std::sqrt(2 / 3.14159265358979323846) *
                                          (1 + 3 * 0.044715 * x * x)));
        const double steeper = 1 / (1 + std::exp(-1.702 * x));
        CHECK(near(cuda::activate(Activation::GeluSigmoid, value), x * steeper));
        CHECK(near(cuda::derivative(Activation::GeluSigmoid, value), steeper + 1.702 * x * steeper * (1 - steeper)));
        CHECK(near(cuda::activate(Activation::Sigmoid, value), sigmoid));
        CHECK(near(cuda::derivative(Activation::Sigmoid, value), sigmoid * (1 - sigmoid)));
        CHECK(cuda::activate(Activation::Relu, value) == (x > 0 ? value : 0.0F));
        CHECK(cuda::derivative(Activation::Relu, value) == (x > 0 ? 1.0F : 0.0F));
    }
    CHECK(std::isnan(cuda::activate(Activation::Relu, std::numeric_limits<float>::quiet_NaN())));
}
