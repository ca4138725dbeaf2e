// What the commands that train several models share: options, the plan, and running.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "experiment/study.h"
#include "options/common_options.h"

namespace headscope {

struct ExperimentFlags {
    CommonOptions common;
    std::string data, config, output;
    std::size_t scale = 0;  // index in kScales
    std::optional<std::int64_t> steps;
    std::optional<Precision> precision;
    bool dry_run = false;

    void add_output(CLI::App& command);
    // --data and --output.
    void add_data(CLI::App& command);
    // --scale, the configuration, --steps, --device, --precision and --dry-run.
    void add_training(CLI::App& command, const char* config_name = "--config");
    // The configuration of the scale or the file, with the options in place and absolute data files.
    nlohmann::json base() const;
};

// Prints the report and, with --json, the files that were written of it.
void print_report(const ExperimentFlags& flags, const StudyReport& report, const std::vector<std::string>& files);

// Runs the trainings and writes the report before and after each one, or prints what would be trained. Error at the end
// if some failed or a signal stopped them.
void run_trainings(const std::string& kind, const ExperimentFlags& flags, const nlohmann::json& base,
                   Trainings& trainings);

}  // namespace headscope
