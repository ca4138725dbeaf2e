// Embed and EmbedBackward.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include "backend/ops/embedding.h"
#include "conformance/cases/catalogue.h"

namespace headscope::conformance::embedding_cases {

namespace {

struct Table {
    std::int64_t batch, length, vocabulary, d_model;
    std::int64_t max_length = 0;  // 0: no positions
    std::int64_t first = -1;      // none given
    float scale = 1.0F;
    Values ids = {};             // random by default
    DType weights = DType::F32;  // what the table is stored in

    std::string title() const {
        return fmt::format("[{}, {}] of {} [{}, {}] positions {} first {} scale {}{}", batch, length, name_of(weights),
                           vocabulary, d_model, max_length, first, scale, ids.empty() ? "" : " given ids");
    }
    // The ids that `generate` makes, since the order of the backward depends on them.
    Values id_values() const {
        Random random(static_cast<std::uint64_t>(batch * 1000 + length));
        return (ids.empty() ? integers(0, vocabulary) : these(ids))(batch * length, random);
    }
};

Case embed(const Table& table) {
    std::vector<Operand> operands{{"ids", {table.batch, table.length}, these(table.id_values())},
                                  {"table", {table.vocabulary, table.d_model}},
                                  {"out", {table.batch, table.length, table.d_model}}};
    if (table.weights != DType::F32) {
        operands[1] = operands[1].narrow(table.weights);
    }
    if (table.weights == DType::I8) {
        operands[1] = operands[1].filled(integers(-127, 128));
        operands.push_back({"table_scales", {table.vocabulary}, uniform(0.001, 0.01)});
    }
    if (table.max_length > 0) {
        operands.push_back({"positions", {table.max_length, table.d_model}});
    }
    if (table.first >= 0) {
        operands.push_back({"first", {1}, these({static_cast<double>(table.first)})});
    }
    return make_case(table.title(), operands, [=](const Operands& t) {
        return Embed{.ids = t["ids"],
                     .table = t["table"],
                     .positions = t.maybe("positions"),
                     .first = t.maybe("first"),
                     .out = t["out"],
                     .scale = table.scale,
                     .table_scales = t.maybe("table_scales")};
    });
}

// Flat positions sorted by id; positions of the id `pad` are left out, with -1 at the end instead.
Values order_of(const Values& ids, double pad) {
    std::vector<std::size_t> order(ids.size());
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return ids[a] < ids[b]; });
    Values flat;
    for (const std::size_t position : order) {
        if (ids[position] != pad) {
            flat.push_back(static_cast<double>(position));
        }
    }
    flat.resize(ids.size(), -1.0);
    return flat;
}

Case embed_backward(const Table& table, double pad = -1.0) {
    const Values ids = table.id_values();
    const Values order = order_of(ids, pad);
    const Shape positions{table.batch, table.length};
    const auto build = [=](const Operands& t) {
        return EmbedBackward{.ids = t["ids"],
                             .order = t["order"],
                             .grad_out = t["grad_out"],
                             .grad_table = t["grad_table"],
                             .scale = table.scale,
                             .write = t.write("grad_table")};
    };
    Case stated = make_case(table.title() + (pad < 0 ? "" : " with pads"),
                            {{"ids", positions, these(ids)},
                             {"order", {table.batch * table.length}, these(order)},
                             {"grad_out", {table.batch, table.length, table.d_model}},
                             {"grad_table", {table.vocabulary, table.d_model}}},
                            build);
    stated.magnitude = runs(build);
    return stated.sums(static_cast<double>(table.batch * table.length));
}

std::vector<Case> embedding_cases() {
    std::vector<Case> cases{
        embed({1, 1, 1, 1}),
        embed({2, 3, 10, 33, 0, -1, 5.7F}),
        embed({2, 3, 10, 36, 0, -1, 5.7F}),
        embed({3, 33, 257, 64, 33, -1, 8.0F}),
        embed({4, 1, 50, 257, 40, 39, 16.0F}),
        embed({2, 5, 10, 3, 12, 7, 1.7F}),
        embed({2, 0, 10, 3}),
        embed({0, 4, 10, 3, 4, 0}),
        embed({2, 40000, 7, 2}).past_a_grid(),
    };
    return cases;
}

std::vector<Case> narrow_tables_cases() {
    std::vector<Case> cases;
    for (const DType weights : {DType::F16, DType::BF16, DType::I8}) {
        for (Table table : {Table{1, 1, 1, 1}, Table{3, 33, 257, 64, 33, -1, 8.0F}, Table{4, 1, 50, 257, 40, 39, 16.0F},
                            Table{2, 4, 10, 33, 4, -1, 2.0F, {0, -1, 9, 10, 1e6, 3, 2, 1}}}) {
            table.weights = weights;
            cases.push_back(embed(table));
        }
    }
    return cases;
}

std::vector<Case> outside_cases() {
    const Values ids{0, -1, 9, 10, 1e6, -2147483648.0, 2147483647.0, 3};
    return {
        embed({2, 4, 10, 33, 0, -1, 2.0F, ids}),
        embed({2, 4, 10, 33, 4, -1, 2.0F, ids}),
        embed({2, 4, 10, 36, 4, -1, 2.0F, {-1}}),              // no tokens, only positions
        embed({2, 4, 10, 33, 3, -1, 2.0F, {1, 2, 3}}),         // the last position is past the table
        embed({2, 4, 10, 5, 8, 6, 2.0F, {1, 2, 3}}),           // the last two are
        embed({2, 4, 10, 5, 8, 2147483647, 2.0F, {1, 2, 3}}),  // a sum that would overflow
    };
}

std::vector<Case> special_values_cases() {
    std::vector<Case> cases;
    for (const double value : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
        cases.push_back(embed({3, 5, 4, 33, 8, 2, 2.0F}).holding(value, "table", 40));
        cases.push_back(embed({3, 5, 4, 33, 8, 2, 2.0F}).holding(value, "positions", 100));
        cases.push_back(embed_backward({3, 5, 4, 33, 0, -1, 2.0F}).holding(value, "grad_out", 40));
    }
    return cases;
}

std::vector<Case> table_gradient_cases() {
    std::vector<Case> cases{
        embed_backward({1, 1, 1, 1}),
        embed_backward({2, 3, 10, 33, 0, -1, 5.7F}),   // most ids do not occur
        embed_backward({3, 33, 7, 257, 0, -1, 0.5F}),  // every id occurs often
        embed_backward({3, 33, 7, 64, 0, -1, 0.5F}, 0.0),
        embed_backward({2, 5, 10, 3, 0, -1, 1.0F, {4}}),              // only one id
        embed_backward({2, 5, 10, 3, 0, -1, 1.0F, {4}}, 4.0),         // only pads
        embed_backward({2, 5, 10, 3, 0, -1, 1.0F, {0, 9}}),           // the first and the last
        embed_backward({2, 5, 10, 3, 0, -1, 1.0F, {-1, 4, 0}}, 5.0),  // some are no tokens
        embed_backward({2, 0, 10, 3}),
        embed_backward({1, 1000, 300, 16, 0, -1, 4.0F}),
        embed_backward({2, 1500, 50, 64, 0, -1, 4.0F}),  // shared out over threads
        embed_backward({2, 7, 5, 1030, 0, -1, 3.0F}),    // rows longer than a workgroup
        embed_backward({2, 7, 20, 256, 0, -1, 3.0F}),    // as long as half a workgroup, and a quarter
        embed_backward({2, 7, 20, 128, 0, -1, 3.0F}),
        embed_backward({1, 4200, 1, 520}),  // one id more often than llvmpipe lets a loop iterate
        embed_backward({1, 5, 70000, 3}).past_a_grid(),
        embed_backward({1, 70000, 30000, 3}).past_a_grid(),
    };
    return cases;
}

std::vector<Differentiation> differentiations() {
    std::vector<Differentiation> all;
    all.push_back({embed({2, 4, 5, 3, 0, -1, 1.7F}), {embed_backward({2, 4, 5, 3, 0, -1, 1.7F})}});
    // Learned positions: each sentence adds to the rows from `first`, like an embedding of 0, 1, 2..
    const Table tokens{2, 4, 5, 3, 4, -1, 1.7F};
    const Table places{2, 4, 4, 3, 0, -1, 1.0F, {0, 1, 2, 3}};
    Case to_table = embed_backward({2, 4, 5, 3, 0, -1, 1.7F});
    Case to_positions = embed_backward(places);
    for (Operand& operand : to_positions.operands) {  // separate ids and order
        operand.name = operand.name == "grad_table" ? "grad_positions"
                       : operand.name == "grad_out" ? "grad_out"
                                                    : "position_" + operand.name;
    }
    to_positions.run = [](Backend& backend, const Operands& t) {
        backend.run(EmbedBackward{.ids = t["position_ids"],
                                  .order = t["position_order"],
                                  .grad_out = t["grad_out"],
                                  .grad_table = t["grad_positions"]});
    };
    all.push_back({embed(tokens), {to_table, to_positions}});
    return all;
}

std::vector<Case> speeds(const Workload& work) {
    const Table table{.batch = work.sentences,
                      .length = work.length,
                      .vocabulary = work.vocabulary,
                      .d_model = work.d_model,
                      .scale = std::sqrt(static_cast<float>(work.d_model)),
                      .weights = work.weights};
    const std::string name = fmt::format("{} of {}x{}", work.rows(), work.vocabulary, work.d_model);
    Case forward = embed(table).named(name);
    const Values ids = table.id_values();
    const std::set<double> different(ids.begin(), ids.end());
    forward.operands[1].share = static_cast<double>(different.size()) / static_cast<double>(work.vocabulary);
    return {forward, embed_backward(table).named(name)};
}

}  // namespace

Family family() {
    return {
        .name = "embedding",
        .groups =
            {
                {"embedding", "embedding", embedding_cases},
                {"narrow-tables", "tables in F16 and I8", narrow_tables_cases},
                {"outside", "an id or a position that does not exist gives NaN, no token gives 0; nothing else is read",
                 outside_cases},
                {"special-values", "NaN and infinity stay in their row", special_values_cases},
                {"table-gradient", "the table's gradient", table_gradient_cases},
            },
        .differentiations = differentiations,
        .speeds = speeds};
}

}  // namespace headscope::conformance::embedding_cases
