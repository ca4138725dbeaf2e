// Draws the table of a study: ours beside the paper's, and both against the base model, with the error over
// seeds.
#pragma once

#include "eval/experiment_table.h"
#include "paint/sketch.h"

namespace headscope {

struct ExperimentDrawingOptions {
    int chosen = -1;  // the row to emphasise; -1: none
    Look look = {};
};

// One line for each row. What differs between our data and the paper's cancels in the plots: perplexity in percent of
// the base model's and BLEU less the base model's, ours and the paper's on one axis. Error bars are one standard
// deviation over seeds. Lines have Role::Block and item = the row.
Drawing draw_experiment(const ExperimentTable& table, const ExperimentDrawingOptions& options = {});

}  // namespace headscope
