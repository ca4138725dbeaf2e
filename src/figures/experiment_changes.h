// What the rows of an experiment gain or lose against its base model, the first row.
#pragma once

#include <optional>
#include <vector>

#include "eval/experiment_table.h"

namespace headscope {

struct ExperimentMetric {
    const char* name;
    SeedSpread ExperimentRow::Measured::*ours;
    std::optional<double> ExperimentRow::Reported::*paper;
    int digits;
    bool relative;  // changes are in percent of the base's value
    bool falling;   // lower values are better

    double change(double value, double base) const { return relative ? (value / base - 1.0) * 100.0 : value - base; }
    double scaled(double deviation, double base) const { return relative ? deviation / base * 100.0 : deviation; }
};

// Perplexity and BLEU.
inline constexpr ExperimentMetric kExperimentMetrics[] = {
    {"PPL", &ExperimentRow::Measured::perplexity, &ExperimentRow::Reported::perplexity, 2, true, true},
    {"BLEU", &ExperimentRow::Measured::bleu, &ExperimentRow::Reported::bleu, 1, false, false},
};

struct ExperimentChange {
    double at = 0.0;
    double deviation = 0.0;  // over the row's seeds; 0 for one seed
};

// The change of each row against the base with the same seeds; empty if either has no value.
struct ExperimentChanges {
    std::vector<std::optional<ExperimentChange>> ours = {}, paper = {};
    double low = 0.0, high = 0.0;  // all values with their deviations, and 0, are inside
};

ExperimentChanges changes_of(const std::vector<ExperimentRow>& rows, const ExperimentMetric& metric);

}  // namespace headscope
