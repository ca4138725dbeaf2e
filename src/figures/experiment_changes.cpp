#include "figures/experiment_changes.h"

#include <algorithm>

namespace headscope {

const ExperimentRow* base_of(const std::vector<ExperimentRow>& rows) {
    const auto base =
        std::find_if(rows.begin(), rows.end(), [](const ExperimentRow& row) { return row.name == "base"; });
    return base == rows.end() ? nullptr : &*base;
}

ExperimentChanges changes_of(const std::vector<ExperimentRow>& rows, const ExperimentMetric& metric) {
    ExperimentChanges changes;
    const ExperimentRow* const base = base_of(rows);
    const auto add = [&](std::vector<std::optional<ExperimentChange>>& all, const std::optional<SeedSpread>& value,
                         const std::optional<SeedSpread>& of) {
        all.emplace_back();
        if (value && of) {
            const ExperimentChange change{metric.change(value->mean, of->mean),
                                          metric.scaled(value->deviation.value_or(0.0), of->mean)};
            changes.low = std::min(changes.low, change.at - change.deviation);
            changes.high = std::max(changes.high, change.at + change.deviation);
            all.back() = change;
        }
    };
    const auto ours = [&](const ExperimentRow* row) {
        return row != nullptr && row->ours ? std::optional((*row->ours).*metric.ours) : std::nullopt;
    };
    const auto paper = [&](const ExperimentRow* row) {
        const std::optional<double> number = row == nullptr ? std::nullopt : row->paper.*metric.paper;
        return number ? std::optional(SeedSpread{*number, {}}) : std::nullopt;
    };
    for (const ExperimentRow& row : rows) {
        add(changes.ours, ours(&row), ours(base));
        add(changes.paper, paper(&row), paper(base));
    }
    return changes;
}

}  // namespace headscope
