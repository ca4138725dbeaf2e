// The CPU's own products of a few rows, as in decoding, and those of F16 and I8 weights.
#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "backend/backend.h"
#include "backends/cpu/open.h"
#include "backends/cpu/processor.h"
#include "backends/cpu/products.h"
#include "backends/cpu/products_i8.h"
#include "support/random.h"

using namespace headscope::cpu;

namespace {

std::vector<float> noise(std::int64_t count, std::uint64_t seed) {
    headscope::Random random(seed);
    std::vector<float> values(static_cast<std::size_t>(count));
    for (float& value : values) {
        value = static_cast<float>(random.below(1U << 20U)) / 262144.0F - 2.0F;
    }
    return values;
}

}  // namespace

TEST_CASE("a row's product has the same bits whatever the other rows are", "[products]") {
    for (const std::int64_t k : {3, 16, 257}) {
        for (const std::int64_t n : {1, 17, 130}) {
            constexpr std::int64_t kRows = 15;  // tiles of four rows, two and one
            const std::vector<float> a = noise(kRows * k, 1);
            const std::vector<float> b = noise(n * k, 2);
            const auto product = [&](std::int64_t first, std::int64_t rows, int threads) {
                std::vector<float> out(static_cast<std::size_t>(rows * n), -1.0F);
                ThreadPool pool(threads);
                multiply_few_rows(pool, {.a = {a.data() + first * k, k, 0, 0},
                                         .b = {b.data(), k, 0, 0},
                                         .out = out.data(),
                                         .out_row_step = n,
                                         .m = rows,
                                         .n = n,
                                         .k = k,
                                         .transpose_b = true});
                return out;
            };
            const std::vector<float> together = product(0, kRows, 3);
            std::vector<float> one_by_one;
            for (std::int64_t row = 0; row < kRows; ++row) {
                const std::vector<float> alone = product(row, 1, 1);
                one_by_one.insert(one_by_one.end(), alone.begin(), alone.end());
            }
            CAPTURE(n, k);
            CHECK(together == one_by_one);
        }
    }
}

TEST_CASE("products of narrow weights have the same bits for any number of threads and every I8 kernel", "[products]") {
    using headscope::DType;
    const auto backend = headscope::open_cpu({});
    // Only tiles of four and three rows; half a panel of 16; a pair of tiles and part of a third
    const std::int64_t rows = GENERATE(7, 11, 37);
    const bool adds = GENERATE(false, true);  // scaled, and added to wider rows
    constexpr std::int64_t kColumns = 339;
    const std::int64_t step = adds ? kColumns + 5 : kColumns;
    if (!has_tiles() && rows == 7 && !adds) {
        WARN("SKIPPED: products of 8 bits in tiles: this processor has none (AMX)");
    }
    for (const std::int64_t k : {1, 64, 100, 257, 320}) {
        std::vector<float> a = noise(rows * k, 1);
        if (adds) {
            a[static_cast<std::size_t>(2 * k)] = std::numeric_limits<float>::quiet_NaN();
        }
        std::vector<std::int32_t> whole(static_cast<std::size_t>(kColumns * k));
        headscope::Random random(2);
        for (std::int32_t& weight : whole) {
            weight = static_cast<std::int32_t>(random.below(255)) - 127;
        }
        const std::vector<float> scales = noise(kColumns, 3);
        const auto product = [&](DType dtype, int threads, IntegerWay way) {
            std::vector<float> out(static_cast<std::size_t>(rows * step), -1.0F);
            const StoredProduct stated{.a = a.data(),
                                       .a_step = k,
                                       .b = make_from_host(*backend, {kColumns, k}, dtype, whole),
                                       .scales = scales.data(),
                                       .out = out.data(),
                                       .out_step = step,
                                       .m = rows,
                                       .n = kColumns,
                                       .k = k,
                                       .alpha = adds ? 0.5F : 1.0F,
                                       .beta = adds ? 0.25F : 0.0F};
            ThreadPool pool(threads);
            if (dtype == DType::I8) {
                multiply_i8(pool, stated, way);
            } else {
                multiply_halves(pool, stated);
            }
            std::vector<std::uint32_t> bits;
            for (const float value : out) {
                bits.push_back(std::isnan(value) ? 0x7fc00000U : std::bit_cast<std::uint32_t>(value));
            }
            return bits;
        };
        CAPTURE(rows, k, adds);
        const std::vector<std::uint32_t> i8 = product(DType::I8, 1, IntegerWay::Tiles);
        CHECK(i8 == product(DType::I8, 3, IntegerWay::Tiles));
        CHECK(i8 == product(DType::I8, 1, IntegerWay::Fours));
        const std::vector<std::uint32_t> plain = product(DType::I8, 1, IntegerWay::Plain);
        if (!adds) {
            CHECK(i8 == plain);
        }
        // When adding, the multiplication may round once or twice.
        for (std::size_t i = 0; i < i8.size(); ++i) {
            const auto one = std::bit_cast<float>(i8[i]);
            const auto other = std::bit_cast<float>(plain[i]);
            REQUIRE((i8[i] == plain[i] || std::abs(one - other) <= 1e-6F * std::max(std::abs(one), 100.0F)));
        }
        for (const DType halves : {DType::F16, DType::BF16}) {
            CHECK(product(halves, 1, IntegerWay::Tiles) == product(halves, 3, IntegerWay::Tiles));
        }
    }
}
