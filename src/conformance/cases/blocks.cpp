// BlockLinear and BlockEmbed.
#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "backend/ops/blocks.h"
#include "conformance/cases/catalogue.h"
#include "tensor/dtype.h"

namespace headscope::conformance::blocks_cases {

namespace {

// Words of 32 bits as their values in I32.
double as_number(std::uint32_t word) {
    return static_cast<double>(static_cast<std::int32_t>(word));
}

Generator any_codes() {
    return [](std::int64_t count, Random& random) {
        Values words;
        for (std::int64_t i = 0; i < count; ++i) {
            words.push_back(as_number(static_cast<std::uint32_t>(random.next() >> 32U)));
        }
        return words;
    };
}

// Scales of both signs, and least values around 0, of the size of 16 codes.
Generator any_scales() {
    return [](std::int64_t count, Random& random) {
        const Values scales = uniform(-0.02, 0.02)(count, random);
        const Values least = uniform(-0.2, 0.2)(count, random);
        Values words;
        for (std::size_t i = 0; i < scales.size(); ++i) {
            const std::uint32_t low = to_f16(static_cast<float>(scales[i]));
            const std::uint32_t high = to_f16(static_cast<float>(least[i]));
            words.push_back(as_number(low | high << 16U));
        }
        return words;
    };
}

// By turns scales for factors of up to 128, and factors.
Generator scales_with_factors() {
    return [](std::int64_t count, Random& random) {
        const Values scales = uniform(-0.02, 0.02)(count / 2, random);
        Values words;
        for (const double scale : scales) {
            const std::uint32_t low = to_f16(static_cast<float>(scale / 64.0));
            const std::uint32_t high = to_f16(static_cast<float>(scale / 6.0));
            words.push_back(as_number(low | high << 16U));
            words.push_back(as_number(static_cast<std::uint32_t>(random.next() >> 32U)));
        }
        return words;
    };
}

std::vector<Operand> weight(std::int64_t rows, std::int64_t columns, const BlockForm& form) {
    const Generator scales = form.factors ? scales_with_factors() : any_scales();
    return {Operand{"codes", {rows, code_words(columns, form.bits)}, any_codes()}.typed(DType::I32),
            Operand{"scales", {rows, scale_words(columns, form.factors)}, scales}.typed(DType::I32)};
}

// As cases name it.
std::string words_for(const BlockForm& form) {
    return fmt::format("bits {}{}", form.bits, form.factors ? " factors" : "");
}

struct Product {
    std::int64_t rows, out, in;
    float alpha = 1.0F;
    BlockForm form = {.bits = 4};
};

Case linear(const Product& product) {
    std::vector<Operand> operands = weight(product.out, product.in, product.form);
    operands.push_back({"x", {product.rows, product.in}});
    operands.push_back({"y", {product.rows, product.out}});
    const std::string name =
        fmt::format("[{}, {}] k {} {}{}", product.rows, product.out, product.in, words_for(product.form),
                    product.alpha == 1.0F ? "" : fmt::format(" alpha {}", product.alpha));
    return make_case(
               name, std::move(operands),
               [=](const Operands& t) {
                   return BlockLinear{
                       .x = t["x"], .codes = t["codes"], .scales = t["scales"], .y = t["y"], .alpha = product.alpha};
               })
        .sums(static_cast<double>(product.in));
}

struct Table {
    std::int64_t batch, length, vocabulary, columns;
    Values ids = {};  // none: all rows
    float scale = 1.0F;
    BlockForm form = {.bits = 4};
};

Case embed(const Table& table) {
    std::vector<Operand> operands = weight(table.vocabulary, table.columns, table.form);
    operands.push_back({"out", {table.batch, table.length, table.columns}});
    if (!table.ids.empty()) {
        operands.push_back({"ids", {table.batch, table.length}, these(table.ids)});
    }
    const std::string name =
        fmt::format("[{}, {}] of [{}, {}] {} scale {}{}", table.batch, table.length, table.vocabulary, table.columns,
                    words_for(table.form), table.scale, table.ids.empty() ? " all" : "");
    return make_case(name, std::move(operands),
                     [=](const Operands& t) {
                         return BlockEmbed{.ids = t.maybe("ids"),
                                           .codes = t["codes"],
                                           .scales = t["scales"],
                                           .out = t["out"],
                                           .scale = table.scale};
                     })
        .cancels(1.0);
}

// Of every form.
template <class Stated, class Make>
std::vector<Case> of_each(const std::vector<Stated>& all, const Make& make) {
    std::vector<Case> cases;
    for (Stated stated : all) {
        for (const int bits : {4, 8}) {
            for (const bool factors : {false, true}) {
                stated.form = {.bits = bits, .factors = factors};
                cases.push_back(make(stated));
            }
        }
    }
    return cases;
}

std::vector<Case> few_rows_cases() {
    return of_each<Product>({{1, 1, 1},
                             {1, 35, 64, 0.5F},
                             {1, 7, 1056},
                             {2, 33, 100},
                             {3, 18, 31},
                             {4, 5, 64},
                             {5, 33, 70},
                             {6, 4, 48},
                             {7, 17, 33},
                             {8, 17, 96, -2.0F},
                             {1, 3, 0},
                             {0, 3, 32},
                             {2, 0, 32}},
                            linear);
}

std::vector<Case> many_rows_cases() {
    return of_each<Product>({{9, 33, 64}, {31, 5, 40}, {32, 65, 32}, {33, 130, 70, 0.5F}, {64, 9, 96}, {65, 64, 33}},
                            linear);
}

std::vector<Case> embedding_cases() {
    const Values outside{0, -1, 9, 10, 1e6, -2147483648.0, 2147483647.0, 3};
    return of_each<Table>(
        {{1, 1, 1, 1}, {2, 4, 10, 64, outside, 2.0F}, {2, 4, 10, 33, outside}, {1, 7, 7, 100}, {0, 4, 10, 32, {0}}},
        embed);
}

std::vector<Case> special_values_cases() {
    std::vector<Case> cases;
    for (const double value : {kNan, kInfinity}) {
        for (const auto& [product, place] :
             {std::pair{Product{2, 5, 40}, 39}, std::pair{Product{2, 5, 64, 1.0F, {.bits = 8}}, 70}}) {
            Case stated = linear(product).holding(value, "x", place);
            const auto row = static_cast<std::size_t>(place / product.in);
            const auto outputs = static_cast<std::size_t>(product.out);
            // Where x is infinite, and so the oracle's y, NaN is right as well.
            stated.accept = [=](const std::string& /*output*/, std::size_t index, double got,
                                const HostValues& /*inputs*/) { return index / outputs == row && std::isnan(got); };
            cases.push_back(stated);
        }
    }
    return cases;
}

std::vector<Case> past_a_grid_cases() {
    return {linear({1, 270000, 3}).past_a_grid(), embed({1, 70000, 3, 2, {2, 0}, 1.0F, {.bits = 8}}).past_a_grid()};
}

std::vector<Case> speeds(const Workload& work) {
    std::vector<Case> cases;
    for (const int bits : {4, 8}) {
        for (const std::int64_t rows : {std::int64_t{1}, work.rows()}) {
            Case stated = linear({rows, work.d_ff, work.d_model, 1.0F, {.bits = bits}})
                              .named(fmt::format("{}x{}x{} of {} bits", rows, work.d_ff, work.d_model, bits));
            stated.arithmetic =
                2.0 * static_cast<double>(rows) * static_cast<double>(work.d_model) * static_cast<double>(work.d_ff);
            cases.push_back(stated);
        }
        Values ids;
        for (std::int64_t row = 0; row < work.rows(); ++row) {
            ids.push_back(static_cast<double>(row * 7919 % work.vocabulary));
        }
        Case rows = embed({work.sentences, work.length, work.vocabulary, work.d_model, ids, 1.0F, {.bits = bits}})
                        .named(fmt::format("{} of {}x{} of {} bits", work.rows(), work.vocabulary, work.d_model, bits));
        const std::set<double> different(ids.begin(), ids.end());
        rows.operands[0].share = rows.operands[1].share =
            static_cast<double>(different.size()) / static_cast<double>(work.vocabulary);
        cases.push_back(rows);
    }
    return cases;
}

}  // namespace

Family family() {
    return {.name = "blocks",
            .groups =
                {
                    {"few-rows", "products of few rows with weights in blocks", few_rows_cases},
                    {"many-rows", "products of many rows", many_rows_cases},
                    {"embedding", "rows of a table in blocks; an id that does not exist gives NaN, no token gives 0",
                     embedding_cases},
                    {"special-values", "NaN and infinity stay in their row", special_values_cases},
                    {"past-a-grid", "more outputs than a grid has workgroups", past_a_grid_cases},
                },
            .speeds = speeds};
}

}  // namespace headscope::conformance::blocks_cases
