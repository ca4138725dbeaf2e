// The paper's Table 3 at the scale of a base model: what is trained, and the table of what came out.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "experiment/experiment.h"
#include "experiment/table3_rows.h"
#include "experiment/text_table.h"

namespace headscope {

// Rows by name, or whole groups: "A" is A1 to A4. All rows if empty. Error for an unknown name.
std::vector<const Table3Row*> chosen_rows(const std::vector<std::string>& names);

// The row's training with a seed. Its folder is "A1-s1".
Trial table3_trial(const Table3Row& row, const nlohmann::json& base, int seed);

struct Table3Line {
    const Table3Row* row = nullptr;
    RowConfig planned;
    std::vector<TrialResult> results = {};  // by seed
    std::vector<int> seeds = {};            // of the results
    std::vector<std::string> problems = {};
};

class Table3 {
public:
    // Every row of the paper, with the results that the experiment's folder has for seeds from 1 to `seeds`, and for
    // further ones without a gap.
    Table3(const nlohmann::json& base, const Experiment& experiment, int seeds);

    void add_problem(const Table3Row& row, int seed, const std::string& problem);

    // Ours beside the paper's. The mean over seeds and, with several, its standard deviation.
    TextTable table() const;
    // Explains the table's columns, and lists rows that are impossible or failed.
    std::string notes() const;
    nlohmann::json json() const;
    // Replaces table.json, table.md, table.svg and table.png in the experiment's folder.
    void write(const std::string& folder) const;

private:
    std::vector<Table3Line> lines_;
};

}  // namespace headscope
