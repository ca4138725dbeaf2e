// Dropout beyond agreement with the oracle: the bits themselves, their statistics, and that an element's mask depends
// only on its place in the whole batch.
#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <memory>

#include "backend/ops/elementwise.h"
#include "backend/philox.h"
#include "conformance/case.h"
#include "devices.h"
#include "registry/registry.h"
#include "tests/house/open_options.h"

using namespace headscope;
using namespace headscope::conformance;

namespace {

using Ordinals = std::vector<std::int32_t>;

struct Draw {
    float rate = 0.5F;
    std::uint32_t seed = 7;
    std::uint32_t site = 1;
    std::int32_t step = 3;
    Ordinals ordinals = {0};
};

// Dropout of ones: 0 or the scale.
std::vector<float> drawn(Backend& backend, const Shape& shape, const Draw& draw) {
    const auto count = static_cast<std::size_t>(shape.elements());
    const Tensor x = make_from_host(backend, shape, DType::F32, std::vector<float>(count, 1.0F));
    const Tensor y = backend.empty(shape, DType::F32);
    const auto batch = static_cast<std::int64_t>(draw.ordinals.size());
    backend.run(Dropout{.x = x,
                        .y = y,
                        .rule = {.rate = draw.rate,
                                 .seed = draw.seed,
                                 .site = draw.site,
                                 .step = make_from_host(backend, {1}, DType::I32, Ordinals{draw.step}),
                                 .ordinals = make_from_host(backend, {batch}, DType::I32, draw.ordinals)}});
    return to_host<float>(backend, y);
}

double share_kept(const std::vector<float>& values) {
    double kept = 0.0;
    for (const float value : values) {
        kept += value != 0.0F ? 1.0 : 0.0;
    }
    return kept / static_cast<double>(values.size());
}

// How often two draws agree on an element.
double agreement(const std::vector<float>& a, const std::vector<float>& b) {
    double same = 0.0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        same += (a[i] != 0.0F) == (b[i] != 0.0F) ? 1.0 : 0.0;
    }
    return same / static_cast<double>(a.size());
}

template <class Check>
void on_every_device(Check check) {
    for (const std::string& id : devices_under_test()) {
        INFO(id);
        const std::unique_ptr<Backend> backend = open_device(id, environment_options());
        check(*backend);
    }
}

}  // namespace

TEST_CASE("Philox gives the published numbers", "[dropout]") {
    // Known answers of philox4x32-10, from the authors' Random123.
    CHECK(philox({0, 0, 0, 0}, {0, 0}) == PhiloxCounter{0x6627e8d5U, 0xe169c58dU, 0xbc57ac4cU, 0x9b00dbd8U});
    constexpr std::uint32_t kOnes = 0xffffffffU;
    CHECK(philox({kOnes, kOnes, kOnes, kOnes}, {kOnes, kOnes}) ==
          PhiloxCounter{0x408f276dU, 0x41c83b0eU, 0xa20bc7c6U, 0x6d5451fdU});
    CHECK(philox({0x243f6a88U, 0x85a308d3U, 0x13198a2eU, 0x03707344U}, {0xa4093822U, 0x299f31d0U}) ==
          PhiloxCounter{0xd16cfe09U, 0x94fdccebU, 0x5001e420U, 0x24126ea1U});
}

TEST_CASE("every device draws the bits of the rule", "[dropout]") {
    // [batch, heads, queries, keys], written again from src/backend/dropout_rule.h.
    const Shape shape{2, 3, 4, 21};
    const Draw draw{.rate = 0.3F, .seed = 0xdeadbeefU, .site = 9, .step = 123456, .ordinals = {77, 5}};
    const std::uint32_t threshold = 19661;  // round(0.3 * 65536)
    std::vector<float> expected;
    for (std::uint32_t b = 0; b < 2; ++b) {
        for (std::uint32_t h = 0; h < 3; ++h) {
            for (std::uint32_t i = 0; i < 4; ++i) {
                for (std::uint32_t c = 0; c < 21; ++c) {
                    const PhiloxCounter words =
                        philox({c >> 3U, h * 65536U + i, static_cast<std::uint32_t>(draw.ordinals[b]), 9U},
                               {0xdeadbeefU, 123456U});
                    const std::uint32_t half = (words[(c & 7U) >> 1U] >> (16U * (c & 1U))) % 65536U;
                    expected.push_back(half >= threshold ? 65536.0F / static_cast<float>(65536U - threshold) : 0.0F);
                }
            }
        }
    }
    on_every_device([&](Backend& backend) { CHECK(drawn(backend, shape, draw) == expected); });
}

TEST_CASE("dropout keeps the right share and the mean", "[dropout]") {
    const Shape shape{4, 50, 500};
    on_every_device([&](Backend& backend) {
        for (const float rate : {0.1F, 0.5F, 0.9F}) {
            INFO("rate " << rate);
            const std::vector<float> values = drawn(backend, shape, {.rate = rate, .ordinals = {0, 1, 2, 3}});
            // Five standard deviations of a share among 100,000.
            const double kept = 1.0 - static_cast<double>(rate);
            CHECK(std::abs(share_kept(values) - kept) < 5 * std::sqrt(kept * (1 - kept) / 1e5));
            double mean = 0.0;
            for (const float value : values) {
                mean += value / 1e5;
            }
            CHECK(mean == Approx(1.0).margin(5 * std::sqrt((1 - kept) / kept / 1e5)));
        }
    });
}

TEST_CASE("each column, position and sentence has its own draws", "[dropout]") {
    const std::unique_ptr<Backend> backend = open_device("cpu:oracle");
    const auto mask = [&](const Draw& draw) {
        const Tensor x = make_from_host(*backend, {1, 64, 257}, backend->full_dtype(), Values(64 * 257, 1.0));
        const Tensor y = backend->empty(x.shape, backend->full_dtype());
        backend->run(Dropout{.x = x,
                             .y = y,
                             .rule = {.rate = draw.rate,
                                      .seed = draw.seed,
                                      .site = draw.site,
                                      .step = make_from_host(*backend, {1}, DType::I32, Ordinals{draw.step}),
                                      .ordinals = make_from_host(*backend, {1}, DType::I32, draw.ordinals)}});
        return to_host<float>(*backend, y);
    };
    const std::vector<float> base = mask({});
    const double chance = 5 * 0.5 / std::sqrt(64.0 * 257.0);
    CHECK(agreement(base, mask({})) == 1.0);
    CHECK(std::abs(agreement(base, mask({.seed = 8})) - 0.5) < chance);
    CHECK(std::abs(agreement(base, mask({.site = 2})) - 0.5) < chance);
    CHECK(std::abs(agreement(base, mask({.step = 4})) - 0.5) < chance);
    CHECK(std::abs(agreement(base, mask({.ordinals = {1}})) - 0.5) < chance);
    const std::vector<float> shifted_column(base.begin() + 1, base.end());
    const std::vector<float> shifted_row(base.begin() + 257, base.end());
    CHECK(std::abs(agreement(shifted_column, base) - 0.5) < chance);
    CHECK(std::abs(agreement(shifted_row, base) - 0.5) < chance);
}

TEST_CASE("padding and micro-batches do not affect a sentence", "[dropout]") {
    on_every_device([&](Backend& backend) {
        const std::vector<float> whole = drawn(backend, {3, 5, 33}, {.ordinals = {10, 11, 12}});
        // The second sentence alone, in another order, and padded to another length.
        const std::vector<float> alone = drawn(backend, {1, 5, 33}, {.ordinals = {11}});
        const std::vector<float> padded = drawn(backend, {2, 8, 33}, {.ordinals = {12, 11}});
        for (std::size_t i = 0; i < 5 * 33; ++i) {
            REQUIRE(alone[i] == whole[5 * 33 + i]);
            REQUIRE(padded[8 * 33 + i] == whole[5 * 33 + i]);
            REQUIRE(padded[i] == whole[2 * 5 * 33 + i]);
        }
        // Attention: fewer keys and queries of the same sentence.
        const std::vector<float> full = drawn(backend, {1, 2, 6, 16}, {.ordinals = {11}});
        const std::vector<float> part = drawn(backend, {2, 2, 4, 11}, {.ordinals = {9, 11}});
        for (std::size_t head = 0; head < 2; ++head) {
            for (std::size_t query = 0; query < 4; ++query) {
                for (std::size_t key = 0; key < 11; ++key) {
                    REQUIRE(part[((2 + head) * 4 + query) * 11 + key] == full[(head * 6 + query) * 16 + key]);
                }
            }
        }
    });
}
