#include "experiment/head_costs.h"

#include <utility>

#include <fmt/format.h>

namespace headscope {
namespace {

std::vector<Column<HeadCost>> head_columns() {
    return {
        {"heads", "heads", [](const HeadCost& one) { return one.heads; }},
        {"d_k", "d_k", [](const HeadCost& one) { return one.cost.width / one.heads; }},
        {"multiply-adds, millions", "multiply_adds", [](const HeadCost& one) { return one.cost.multiply_adds; }, 1,
         1e6},
        {"forward ms", "forward_seconds", [](const HeadCost& one) { return one.cost.pass.forward_seconds; }, 3, 1e-3},
        {"backward ms", "backward_seconds", [](const HeadCost& one) { return one.cost.pass.backward_seconds; }, 3,
         1e-3},
        {"MB", "bytes", [](const HeadCost& one) { return one.cost.pass.bytes; }, 1, 1e6},
        {"", "n", [](const HeadCost& one) { return one.cost.length; }},
        {"", "d", [](const HeadCost& one) { return one.cost.width; }},
    };
}

}  // namespace

std::vector<HeadCost> measure_heads(Backend& backend, const std::set<std::int64_t>& heads, std::int64_t length,
                                    std::int64_t width, int repeat) {
    std::vector<HeadCost> costs;
    for (const std::int64_t h : heads) {
        if (width % h == 0) {
            LayerKind kind = *chosen_layer_kinds({"self-attention"}).front();
            kind.encoder.update({{"attention.heads", h}, {"attention.d_k", width / h}, {"attention.d_v", width / h}});
            costs.push_back({h, LayerProbe(backend, kind, length, width).measure(repeat)});
        }
    }
    return costs;
}

void add_head_costs(const std::vector<HeadCost>& costs, StudyReport& report) {
    if (costs.empty()) {
        return;
    }
    report.json["heads"] = json_of(head_columns(), costs);
    report.tables.push_back(table_of(head_columns(), costs, 0));
    Series forward{.name = "forward", .points = {}};
    Series backward{.name = "backward", .points = {}};
    for (const HeadCost& one : costs) {
        const auto h = static_cast<double>(one.heads);
        forward.points.push_back({h, 1e3 * one.cost.pass.forward_seconds});
        backward.points.push_back({h, 1e3 * one.cost.pass.backward_seconds});
    }
    const LayerCost& any = costs.front().cost;
    report.add_curves("by-heads", {std::move(forward), std::move(backward)},
                      {.title = fmt::format("Self-attention of {} columns in all, n = {}", any.width, any.length),
                       .x_label = "heads",
                       .y_label = "milliseconds",
                       .logarithmic_x = true});
}

}  // namespace headscope
