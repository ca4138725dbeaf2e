#include "figures/experiment_changes.h"

#include <algorithm>

namespace headscope {

namespace {

// The base's mean over the row's seeds, so that both have the same initial values and order of the data; over all of
// its seeds if it lacks one of them.
std::optional<SeedSpread> base_for(const ExperimentRow& row, const ExperimentRow* base,
                                   const ExperimentMetric& metric) {
    if (base == nullptr || !base->ours) {
        return std::nullopt;
    }
    const SeedSpread& all = (*base->ours).*metric.ours;
    double sum = 0.0;
    for (const int seed : row.seeds) {
        const auto at = std::find(base->seeds.begin(), base->seeds.end(), seed) - base->seeds.begin();
        if (static_cast<std::size_t>(at) >= all.values.size()) {
            return all;
        }
        sum += all.values[static_cast<std::size_t>(at)];
    }
    return row.seeds.empty() ? all : SeedSpread{.mean = sum / static_cast<double>(row.seeds.size())};
}

}  // namespace

ExperimentChanges changes_of(const std::vector<ExperimentRow>& rows, const ExperimentMetric& metric) {
    ExperimentChanges changes;
    const ExperimentRow* const base = rows.empty() ? nullptr : &rows.front();
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
    const auto ours = [&](const ExperimentRow& row) {
        return row.ours ? std::optional((*row.ours).*metric.ours) : std::nullopt;
    };
    const auto paper = [&](const ExperimentRow* row) {
        const std::optional<double> number = row == nullptr ? std::nullopt : row->paper.*metric.paper;
        return number ? std::optional(SeedSpread{*number, {}}) : std::nullopt;
    };
    for (const ExperimentRow& row : rows) {
        add(changes.ours, ours(row), base_for(row, base, metric));
        add(changes.paper, paper(&row), paper(base));
    }
    return changes;
}

}  // namespace headscope
