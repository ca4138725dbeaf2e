// Reads table.json of a study with rows of trainings, such as headscope experiment table3.
#pragma once

#include <string>

#include "eval/experiment_table.h"

namespace headscope {

// Whether the folder has the table of an experiment.
bool has_experiment_table(const std::string& folder);
// False for the table of an experiment that has no rows to show, such as a sweep's. True for a damaged one.
bool has_rows_to_show(const std::string& folder);
// The table and the trials that were started since it was written. Error names the file, the key and what was expected.
ExperimentTable read_experiment_table(const std::string& folder);
// Its file, which an experiment replaces after each trial.
std::string experiment_table_file(const std::string& folder);

}  // namespace headscope
