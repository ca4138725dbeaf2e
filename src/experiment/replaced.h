// What the Transformer replaced, beside it: recurrent and convolutional translators with as many parameters, trained on
// the same data.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "experiment/experiment.h"
#include "experiment/text_table.h"

namespace headscope {

struct ReplacedRow {
    const char* name;
    const char* title;
    nlohmann::json model;  // changes of the base's model
};

const std::vector<ReplacedRow>& replaced_rows();

// The base of a scale, pre-norm, which all kinds of layers train with.
nlohmann::json replaced_base(nlohmann::json scale);
struct ReplacedPlan {
    const ReplacedRow* row = nullptr;
    Trial trial;
    std::string impossible = {};  // why there is no such model with this base; "" if there is
};
// The rows of these names, or all. `minutes`: instead of the base's limits; 0: those.
std::vector<ReplacedPlan> plan_replaced(const std::vector<std::string>& names, const nlohmann::json& base,
                                        double minutes);

class Replaced {
public:
    // Of the rows that have a result in the experiment's folder.
    Replaced(const Experiment& experiment, const std::vector<ReplacedPlan>& plans);

    TextTable table() const;
    // BLEU of sources by their number of words.
    TextTable by_length() const;
    // Replaces table.json, table.md and by-length.svg in the experiment's folder.
    void write(const std::string& folder) const;

private:
    struct Line {
        std::string name, title;
        TrialResult result;
    };
    std::vector<Line> lines_;
};

}  // namespace headscope
