// What the commands that train several models share: options, the plan, and running.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "experiment/experiment.h"
#include "options/common_options.h"

namespace headscope {

struct ExperimentFlags {
    CommonOptions common;
    std::string data, config, output;
    std::size_t scale = 0;  // index in kScales
    std::optional<std::int64_t> steps;
    std::optional<Precision> precision;
    bool dry_run = false;

    void add_data(CLI::App& command);
    // --scale, the configuration, --steps, --device, --precision and --dry-run.
    void add_training(CLI::App& command, const char* config_name = "--config");
    // The configuration of the scale or the file, with the options in place and absolute data files.
    nlohmann::json base() const;
    ExperimentOptions experiment() const;
};

// Prints the trials that have no result in the output folder, with their parameters and estimated times.
void print_plan(const ExperimentFlags& flags, const nlohmann::json& base, const std::vector<Trial>& all);

struct TrialProblem {
    std::size_t trial = 0;
    std::string text;
};

// A line for each: "base-s1: failed: no disk".
std::string problem_lines(const std::vector<Trial>& trials, const std::vector<TrialProblem>& problems);

// Runs the trials. Calls `write` before and after each one with the problems so far, and prints what the last call
// returns. Error, after that, if some failed or a signal stopped them.
void run_reported(const Experiment& experiment, const std::vector<Trial>& trials,
                  const std::function<std::string(const std::vector<TrialProblem>&)>& write);

}  // namespace headscope
