// Reads table.json of an experiment (headscope experiment table3).
#pragma once

#include <string>

#include "eval/experiment_table.h"

namespace headscope {

// Whether the folder has the table of an experiment.
bool has_experiment_table(const std::string& folder);
// The table and the trials that were started since it was written. Error names the file, the key and what was expected.
ExperimentTable read_experiment_table(const std::string& folder);
// Its file, which an experiment replaces after each trial.
std::string experiment_table_file(const std::string& folder);

}  // namespace headscope
