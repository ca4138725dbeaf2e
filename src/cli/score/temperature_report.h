// The output of headscope calibrate.
#pragma once

#include <cstddef>
#include <string>

#include "cli/score/evaluation_report.h"
#include "eval/forced_statistics.h"

namespace headscope {

struct TemperatureFit {
    double temperature = 1.0;  // found
    double had = 1.0;          // the model's until now
    ForcedStatistics before, after;
    std::size_t left_out = 0;  // pairs that are empty or too long for the model
    std::string kept = {};     // the file that has it now, or ""
};

std::string temperature_table(const TemperatureFit& fit);
// One object with a newline.
std::string temperature_json(const TemperatureFit& fit, const ResultOrigin& origin, const EvaluatedBy& by);

}  // namespace headscope
