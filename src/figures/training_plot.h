// One or several trainings over their steps: losses, learning rate and, where it was measured, BLEU.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "eval/training_log.h"
#include "paint/sketch.h"

namespace headscope {

struct PlottedRun {
    std::string name;
    TrainingLog log;
};

struct TrainingPlotOptions {
    std::int64_t from = 0;     // steps before it are left out, since the first losses leave little room for the others
    bool logarithmic = false;  // the losses
    double width = 64.0;       // in text sizes
    Look look = {};
};

// One below the other, each where there is something to show: the losses of a single run together, of several runs
// those of training and of validation apart; then the learning rate, then BLEU. A run has the same colour in each.
// Error where there is nothing at all.
Drawing draw_training_plot(const std::vector<PlottedRun>& runs, const TrainingPlotOptions& options);

}  // namespace headscope
