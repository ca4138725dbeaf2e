#include <catch2/catch.hpp>
#include <stdexcept>

#include "backends/cpu/open.h"
#include "backends/cpu/products.h"
#include "backends/cpu/thread_pool.h"
#include "support/check.h"

using namespace headscope;
using namespace headscope::cpu;

TEST_CASE("every part runs once, whatever the threads", "[threads]") {
    for (const int threads : {1, 2, 5}) {
        ThreadPool pool(threads);
        CHECK(pool.size() == threads);
        for (int round = 0; round < 200; ++round) {
            std::vector<std::atomic<int>> seen(37);
            pool.run(37, [&](std::int64_t part) { ++seen[static_cast<std::size_t>(part)]; });
            for (const std::atomic<int>& count : seen) {
                REQUIRE(count == 1);
            }
        }
    }
}

TEST_CASE("ranges cover everything once and keep to their grain", "[threads]") {
    ThreadPool pool(3);
    for (const std::int64_t count : {0, 1, 7, 100, 1001}) {
        std::vector<std::atomic<int>> seen(static_cast<std::size_t>(count));
        std::atomic<int> ranges{0};
        pool.for_ranges(count, 50, [&](std::int64_t begin, std::int64_t end) {
            ++ranges;
            for (std::int64_t i = begin; i < end; ++i) {
                ++seen[static_cast<std::size_t>(i)];
            }
        });
        for (const std::atomic<int>& times : seen) {
            REQUIRE(times == 1);
        }
        CHECK(ranges <= std::max<std::int64_t>(1, count / 50));
    }
}

TEST_CASE("an exception in a part is rethrown, and the pool still works", "[threads]") {
    ThreadPool pool(2);
    CHECK_THROWS_WITH(pool.run(8,
                               [](std::int64_t part) {
                                   if (part == 5) {
                                       throw std::runtime_error("part five");
                                   }
                               }),
                      "part five");
    std::atomic<int> ran{0};
    pool.run(8, [&](std::int64_t) { ++ran; });
    CHECK(ran == 8);
}

TEST_CASE("HEADSCOPE_THREADS is read and checked", "[threads]") {
    const auto threads = [](const char* text) { return cpu_options({{{"HEADSCOPE_THREADS", text}}}).threads; };
    CHECK(threads("3") == 3);
    CHECK(threads("") == 0);
    for (const char* wrong : {"many", "2x", "0", "-1", "257", "100000000000", "+2"}) {
        CHECK_THROWS_WITH(threads(wrong), Catch::Matchers::Contains(std::string("HEADSCOPE_THREADS is \"") + wrong));
    }
    CHECK(thread_count(3) == 3);
    CHECK(thread_count(0) >= 1);
}

namespace {

std::vector<float> noise(std::size_t count, std::uint32_t state) {
    std::vector<float> values(count);
    for (float& value : values) {
        state = state * 1664525U + 1013904223U;
        value = static_cast<float>(state >> 8U) / 8388608.0F - 1.0F;
    }
    return values;
}

using Way = void (*)(ThreadPool&, const Product&);

// [3 batches of 2] of m x k times k x n computed in one way, over an output of ones.
std::vector<float> product_by(Way way, ThreadPool& pool, bool transpose_a, bool transpose_b, Compute compute) {
    constexpr std::int64_t kM = 37, kN = 29, kK = 43;
    static const std::vector<float> a = noise(6 * kM * kK, 1);
    static const std::vector<float> b = noise(6 * kK * kN, 2);
    std::vector<float> out(6 * kM * kN, 1.0F);
    way(pool, Product{.a = {a.data(), transpose_a ? kM : kK, 2 * kM * kK, kM * kK},
                      .b = {b.data(), transpose_b ? kK : kN, 2 * kK * kN, kK * kN},
                      .out = out.data(),
                      .out_row_step = kN,
                      .out_outer_step = 2 * kM * kN,
                      .out_inner_step = kM * kN,
                      .outer = 3,
                      .inner = 2,
                      .m = kM,
                      .n = kN,
                      .k = kK,
                      .transpose_a = transpose_a,
                      .transpose_b = transpose_b,
                      .alpha = 0.5F,
                      .beta = 2.0F,
                      .compute = compute});
    return out;
}

}  // namespace

TEST_CASE("the library and our kernel agree, in F32 and in BF16", "[products]") {
    ThreadPool pool(2);
    for (const Compute compute : {Compute::F32, Compute::BF16}) {
        for (int transposes = 0; transposes < 4; ++transposes) {
            const bool a = (transposes & 1) != 0;
            const bool b = (transposes & 2) != 0;
            const std::vector<float> large = product_by(multiply_large, pool, a, b, compute);
            const std::vector<float> small = product_by(multiply_small, pool, a, b, compute);
            float worst = 0.0F;
            for (std::size_t i = 0; i < large.size(); ++i) {
                worst = std::max(worst, std::abs(large[i] - small[i]));
            }
            CHECK(worst < 2e-5F);
        }
    }
}

TEST_CASE("a product's bits repeat, for pools of any size", "[products]") {
    for (const Way way : {multiply, multiply_large, multiply_small}) {
        for (const Compute compute : {Compute::F32, Compute::BF16}) {
            for (int transposes = 0; transposes < 4; ++transposes) {
                const bool a = (transposes & 1) != 0;
                const bool b = (transposes & 2) != 0;
                INFO("transposes " << a << b << ", " << name_of(compute));
                ThreadPool alone(1);
                const std::vector<float> first = product_by(way, alone, a, b, compute);
                for (const int threads : {1, 2, 3}) {
                    ThreadPool pool(threads);
                    INFO(threads << " threads");
                    for (int round = 0; round < 20; ++round) {
                        CHECK(product_by(way, pool, a, b, compute) == first);
                    }
                }
            }
        }
    }
}

TEST_CASE("one matrix gives the same bits for any number of threads", "[products]") {
    // a [m, k], b [n, k]: a training step's rows times weights, a long output, few rows, few columns.
    struct Sizes {
        std::int64_t m, n, k;
    };
    for (const Sizes& size : {Sizes{250, 150, 301}, Sizes{3, 1500, 256}, Sizes{1500, 5, 256}, Sizes{1, 900, 300}}) {
        const std::vector<float> a = noise(static_cast<std::size_t>(size.m * size.k), 1);
        const std::vector<float> b = noise(static_cast<std::size_t>(size.n * size.k), 2);
        for (const Compute compute : {Compute::F32, Compute::BF16}) {
            std::vector<float> alone;
            for (const int threads : {1, 2, 3}) {
                ThreadPool pool(threads);
                std::vector<float> out(static_cast<std::size_t>(size.m * size.n));
                multiply(pool, Product{.a = {a.data(), size.k},
                                       .b = {b.data(), size.k},
                                       .out = out.data(),
                                       .out_row_step = size.n,
                                       .m = size.m,
                                       .n = size.n,
                                       .k = size.k,
                                       .transpose_b = true,
                                       .compute = compute});
                alone = threads == 1 ? out : alone;
                INFO(size.m << " x " << size.n << " x " << size.k << ", " << name_of(compute) << ", " << threads);
                CHECK(out == alone);
            }
        }
    }
}
