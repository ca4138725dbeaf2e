// Which heads of attention run on matrices, and how, without a device.
#include "backends/vulkan/products/head_plan.h"

#include <catch2/catch.hpp>

#include "products.h"

using namespace headscope::vulkan;
using headscope::vulkan_tests::kMatrices;

namespace {

constexpr std::uint32_t kNvidia = 49152;  // bytes of shared memory
constexpr std::uint32_t kAmd = 65536;

HeadShape square(std::int64_t length, std::int64_t depth, bool backward) {
    return {.queries = length, .keys = length, .depth = depth, .value_depth = depth, .backward = backward};
}

bool fits(const HeadShape& shape, std::uint32_t shared_bytes = kNvidia) {
    MatrixDevice device = kMatrices;
    device.shared_bytes = shared_bytes;
    return plan_head(device, shape).has_value();
}

// The longest sentence that fits.
std::int64_t longest(std::int64_t depth, bool backward, std::uint32_t shared_bytes) {
    std::int64_t length = 200;
    while (length > 0 && !fits(square(length, depth, backward), shared_bytes)) {
        --length;
    }
    return length;
}

}  // namespace

TEST_CASE("a sentence of the paper's model fits a workgroup twice and more", "[vulkan][head_plan]") {
    // 48 rows of 36 words of keys and values, 16 of queries, then weights of 28 and scores of 52 words a row.
    const auto forward = plan_head(kMatrices, square(40, 64, false));
    REQUIRE(forward);
    CHECK(*forward == HeadPlan{.rows = 16,
                               .subgroups = 4,
                               .padded_keys = 48,
                               .shared_bytes = 4 * (2 * 48 * 36 + 16 * 36 + 16 * 28 + 128 + 4 * 256)});
    const auto backward = plan_head(kMatrices, square(40, 64, true));
    REQUIRE(backward);
    CHECK(*backward == HeadPlan{.rows = 16,
                                .subgroups = 4,
                                .padded_keys = 48,
                                .shared_bytes = 4 * (2 * 48 * 36 + 2 * 16 * 36 + 2 * 16 * 28 + 128 + 2 * 16 * 52)});
    CHECK(2 * backward->shared_bytes <= kAmd);
}

TEST_CASE("how long a sentence may be depends on its heads' columns and the shared memory", "[vulkan][head_plan]") {
    CHECK(longest(32, false, kNvidia) == 128);
    CHECK(longest(64, false, kNvidia) == 112);
    CHECK(longest(128, false, kNvidia) == 64);
    CHECK(longest(64, true, kNvidia) == 80);
    CHECK(longest(128, true, kNvidia) == 48);
    CHECK(longest(64, false, kAmd) == 128);
    CHECK(longest(64, true, kAmd) == 112);
    CHECK(longest(64, false, 16384) == 16);
    CHECK(longest(136, false, 1U << 20U) == 0);
}

TEST_CASE("queries go through in steps: not if they are few, nor if they are many in few heads",
          "[vulkan][head_plan]") {
    CHECK(fits({.queries = 5, .keys = 40, .depth = 64, .value_depth = 64}));
    for (const bool backward : {false, true}) {
        const auto fit = [&](std::int64_t heads, std::int64_t queries) {
            return fits(
                {.heads = heads, .queries = queries, .keys = 40, .depth = 64, .value_depth = 64, .backward = backward});
        };
        CHECK(fit(8, 512));
        CHECK_FALSE(fit(8, 513));
        CHECK_FALSE(fit(255, 3000));
        CHECK(fit(256, 3000));
    }
    CHECK_FALSE(fits({.queries = 4, .keys = 40, .depth = 64, .value_depth = 64}));
    CHECK_FALSE(fits({.queries = 40, .keys = 0, .depth = 64, .value_depth = 64}));
    MatrixDevice emulated = kMatrices;
    emulated.emulated = true;
    CHECK(plan_head(emulated, {.heads = 256, .queries = 400, .keys = 40, .depth = 64, .value_depth = 64}));
    CHECK_FALSE(plan_head(emulated, {.heads = 256, .queries = 450, .keys = 40, .depth = 64, .value_depth = 64}));
}

TEST_CASE("more subgroups share the sums of gradients where one would have too many", "[vulkan][head_plan]") {
    MatrixDevice large = kMatrices;
    large.shared_bytes = 1U << 20U;
    const auto subgroups_of = [&](std::int64_t length, std::int64_t depth) {
        const auto plan = plan_head(large, square(length, depth, true));
        return plan ? plan->subgroups : 0;
    };
    CHECK(subgroups_of(96, 64) == 4);
    CHECK(subgroups_of(112, 64) == 8);
    CHECK(subgroups_of(96, 128) == 8);
    CHECK(subgroups_of(112, 128) == 0);
    large.subgroup_size = 64;  // whose invocations have half as many each
    CHECK(subgroups_of(112, 64) == 4);
    CHECK(plan_head(large, square(112, 64, true))->rows == 32);
    CHECK(plan_head(large, square(16, 64, true))->rows == 16);
    large.most_invocations = 128;
    CHECK(subgroups_of(40, 64) == 0);
}

TEST_CASE("matrices that do not divide sixteen are not for attention", "[vulkan][head_plan]") {
    MatrixDevice other = kMatrices;
    for (const MatrixSizes& sizes : {MatrixSizes{16, 8, 16}, {8, 16, 8}, {16, 16, 8}}) {
        other.sizes = sizes;
        CHECK(plan_head(other, square(40, 64, true)));
    }
    for (const MatrixSizes& sizes : {MatrixSizes{32, 8, 16}, {16, 32, 16}, {16, 16, 32}, {16, 2, 16}}) {
        other.sizes = sizes;
        CHECK_FALSE(plan_head(other, square(40, 64, true)));
    }
}
