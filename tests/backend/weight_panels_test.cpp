// Weights that the CPU has packed: the same numbers, whatever reads or writes them, and products whose rows do not
// depend on each other.
#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "backend/ops/embedding.h"
#include "backend/ops/matmul.h"
#include "backends/cpu/open.h"
#include "backends/cpu/panel_products.h"
#include "backends/cpu/processor.h"
#include "backends/cpu/products_i8.h"
#include "support/check.h"
#include "support/random.h"

using headscope::Activation;
using headscope::Backend;
using headscope::CheckFailure;
using headscope::DType;
using headscope::Embed;
using headscope::Linear;
using headscope::Matmul;
using headscope::Shape;
using headscope::Tensor;
using headscope::WeightLayout;
using namespace headscope::cpu;

namespace {

// Whole numbers, which every dtype of weights holds.
std::vector<float> whole_numbers(std::int64_t count, std::uint64_t seed) {
    headscope::Random random(seed);
    std::vector<float> values(static_cast<std::size_t>(count));
    for (float& value : values) {
        value = static_cast<float>(random.below(255)) - 127.0F;
    }
    return values;
}

std::vector<float> reals(std::int64_t count, std::uint64_t seed) {
    std::vector<float> values = whole_numbers(count, seed);
    for (float& value : values) {
        value /= 97.0F;
    }
    return values;
}

class Weight {
public:
    Weight(Backend& backend, std::int64_t rows, std::int64_t columns, DType dtype)
        : values(whole_numbers(rows * columns, 5)),
          in_rows(make_from_host(backend, {rows, columns}, dtype, values)),
          packed(backend.pack(make_from_host(backend, {rows, columns}, dtype, values))),
          scales(dtype == DType::I8 ? make_from_host(backend, {rows}, DType::F32, reals(rows, 6)) : Tensor()) {}

    std::vector<float> values;
    Tensor in_rows, packed, scales;
};

std::vector<float> product_of(const Weight& weight, const std::vector<float>& a, std::int64_t first, std::int64_t rows,
                              int threads, IntegerWay way = IntegerWay::Tiles) {
    const std::int64_t n = weight.packed.dim(0);
    const std::int64_t k = weight.packed.dim(1);
    std::vector<float> out(static_cast<std::size_t>(rows * n), -1.0F);
    const auto scales = weight.scales.defined() ? reals(n, 6) : std::vector<float>();
    const StoredProduct stated{.a = a.data() + first * k,
                               .a_step = k,
                               .b = weight.packed,
                               .scales = scales.data(),
                               .out = out.data(),
                               .out_step = n,
                               .m = rows,
                               .n = n,
                               .k = k};
    ThreadPool pool(threads);
    if (weight.packed.dtype == DType::I8) {
        multiply_panels_i8(pool, stated, way);
    } else {
        multiply_panels(pool, stated);
    }
    return out;
}

}  // namespace

TEST_CASE("a packed weight holds the numbers that were written, and those that are written later", "[panels]") {
    const auto cpu = headscope::open_cpu({});
    const DType dtype = GENERATE(DType::F32, DType::F16, DType::BF16, DType::I8);
    for (const std::int64_t rows : {1, 16, 31, 32, 33, 70, 96}) {
        for (const std::int64_t columns : {1, 4, 16, 20, 33, 64}) {
            CAPTURE(rows, columns, name_of(dtype));
            const Weight weight(*cpu, rows, columns, dtype);
            const bool units = dtype != DType::I8 || columns % 4 == 0;  // I8 has four numbers in a lane
            CHECK((weight.packed.layout == WeightLayout::Panels || !units || has_tiles()));
            CHECK(headscope::to_host<float>(*cpu, weight.packed) == weight.values);
            const std::vector<float> others = whole_numbers(rows * columns, 9);
            from_host(*cpu, weight.packed, others);
            CHECK(headscope::to_host<float>(*cpu, weight.packed) == others);
        }
    }
}

TEST_CASE("a row times a packed weight has the same bits whatever the other rows and threads are", "[panels]") {
    const auto cpu = headscope::open_cpu({});
    const DType dtype = GENERATE(DType::F32, DType::F16, DType::BF16, DType::I8);
    for (const auto& [n, k] : {std::pair{1, 4}, {33, 1}, {40, 64}, {130, 260}, {256, 32}}) {
        constexpr std::int64_t kRows = 41;
        const Weight weight(*cpu, n, k, dtype);
        if (weight.packed.layout != WeightLayout::Panels) {
            REQUIRE((dtype == DType::I8 && (k % 4 != 0 || has_tiles())));
            continue;
        }
        const std::vector<float> a = reals(kRows * k, 1);
        const std::vector<float> together = product_of(weight, a, 0, kRows, 3);
        for (const std::int64_t rows : {1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 13, 31, 33, 40}) {
            CAPTURE(n, k, rows, name_of(dtype));
            const std::vector<float> some = product_of(weight, a, kRows - rows, rows, 1);
            CHECK(std::equal(some.rbegin(), some.rend(), together.rbegin()));
        }
        if (dtype == DType::I8) {
            CHECK(product_of(weight, a, 0, kRows, 1, IntegerWay::Plain) == together);
            CHECK(product_of(weight, a, 0, kRows, 1, IntegerWay::Pairs) == together);
        }
        for (std::int64_t row = 0; row < kRows && dtype != DType::I8; ++row) {
            for (std::int64_t column = 0; column < n; ++column) {
                double sum = 0.0;
                double size = 0.0;
                for (std::int64_t x = 0; x < k; ++x) {
                    const double term = static_cast<double>(a[static_cast<std::size_t>(row * k + x)]) *
                                        static_cast<double>(weight.values[static_cast<std::size_t>(column * k + x)]);
                    sum += term;
                    size += std::abs(term);
                }
                REQUIRE(std::abs(static_cast<double>(together[static_cast<std::size_t>(row * n + column)]) - sum) <=
                        1e-6 * size);
            }
        }
    }
}

TEST_CASE("ops give the same with a packed weight as with its rows", "[panels]") {
    const auto cpu = headscope::open_cpu({});
    const DType dtype = GENERATE(DType::F32, DType::F16, DType::BF16, DType::I8);
    constexpr std::int64_t kVocabulary = 75;
    constexpr std::int64_t kColumns = 24;
    const Weight weight(*cpu, kVocabulary, kColumns, dtype);
    SECTION("Embed, also of ids that do not exist") {
        const Tensor ids = make_from_host<std::int32_t>(*cpu, {2, 3}, DType::I32, {0, 31, 32, 74, GENERATE(5, 75), 64});
        const auto embedded = [&](const Tensor& table) {
            const Tensor out = cpu->empty({2, 3, kColumns}, DType::F32);
            cpu->run(Embed{.ids = ids, .table = table, .out = out, .scale = 2.0F, .table_scales = weight.scales});
            std::vector<std::uint32_t> bits;
            for (const float value : headscope::to_host<float>(*cpu, out)) {
                bits.push_back(std::isnan(value) ? 0x7fc00000U : std::bit_cast<std::uint32_t>(value));
            }
            return bits;
        };
        CHECK(embedded(weight.packed) == embedded(weight.in_rows));
    }
    SECTION("Linear with a bias and ReLU, whose values may be NaN") {
        std::vector<float> values = reals(3 * kColumns, 2);
        values[kColumns] = std::nanf("");
        const Tensor x = make_from_host(*cpu, {3, kColumns}, DType::F32, values);
        const Tensor bias = make_from_host(*cpu, {kVocabulary}, DType::F32, reals(kVocabulary, 3));
        const auto activation = GENERATE(Activation::None, Activation::Relu, Activation::Gelu);
        const auto linear = [&](const Tensor& stored) {
            const Tensor y = cpu->empty({3, kVocabulary}, DType::F32);
            cpu->run(Linear{.x = x,
                            .weight = stored,
                            .bias = bias,
                            .y = y,
                            .activation = activation,
                            .weight_scales = weight.scales});
            return headscope::to_host<float>(*cpu, y);
        };
        const std::vector<float> packed = linear(weight.packed);
        const std::vector<float> plain = linear(weight.in_rows);
        for (std::size_t i = 0; i < plain.size(); ++i) {
            CAPTURE(i, plain[i], packed[i]);
            REQUIRE((std::isnan(plain[i]) ? std::isnan(packed[i])
                                          : std::abs(plain[i] - packed[i]) <= 1e-4F * (1.0F + std::abs(plain[i]))));
        }
    }
    SECTION("Matmul that does not transpose it, as for gradients") {
        if (dtype == DType::F32) {
            const Tensor a = make_from_host(*cpu, {5, kVocabulary}, DType::F32, reals(5 * kVocabulary, 4));
            const auto product = [&](const Tensor& b) {
                const Tensor out = cpu->empty({5, kColumns}, DType::F32);
                cpu->run(Matmul{.a = a, .b = b, .out = out});
                return headscope::to_host<float>(*cpu, out);
            };
            CHECK(product(weight.packed) == product(weight.in_rows));
        }
    }
}

TEST_CASE("a packed weight has no views but whole panels", "[panels]") {
    const auto cpu = headscope::open_cpu({});
    const Weight weight(*cpu, 70, 8, DType::F32);
    const Tensor part = weight.packed.narrow(0, 32, 38);
    const std::vector<float> values = headscope::to_host<float>(*cpu, part);
    CHECK(std::equal(values.begin(), values.end(), weight.values.begin() + 32 * 8));
    CHECK_THROWS_AS(weight.packed.narrow(0, 16, 32), CheckFailure);
    CHECK_THROWS_AS(weight.packed.narrow(0, 0, 33), CheckFailure);
    CHECK_THROWS_AS(weight.packed.narrow(1, 0, 4), CheckFailure);
    CHECK_THROWS_AS(weight.packed.reshape({560}), CheckFailure);
    const Tensor out = cpu->empty({70, 8}, DType::F32);
    CHECK_THROWS_AS(operands_of(Matmul{.a = weight.packed, .b = weight.packed, .out = out}).check(), CheckFailure);
}

TEST_CASE("another device borrows memory, also after its owner is gone", "[panels]") {
    auto owner = headscope::open_cpu({});
    const auto borrower = headscope::open_cpu({});
    auto lent = std::make_unique<Tensor>(make_from_host(*owner, {3}, DType::F32, std::vector<float>{1, 2, 3}));
    CHECK(owner->device().lends);
    Tensor borrowed = borrower->borrow(*lent);
    CHECK(borrowed.buffer != lent->buffer);
    lent.reset();
    CHECK(owner->memory().live > 0);
    SECTION("the owner is gone") {
        owner.reset();
        CHECK(headscope::to_host<float>(*borrower, borrowed) == std::vector<float>{1, 2, 3});
    }
    SECTION("another thread gives it back") {
        std::thread([&] { borrowed = Tensor(); }).join();
        static_cast<void>(owner->empty({100}, DType::F32));  // the owner's own thread takes it
        CHECK(owner->memory().live == 0);
    }
}
