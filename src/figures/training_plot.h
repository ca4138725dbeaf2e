// Plots one or more training runs: losses, learning rate, and what else was measured, such as BLEU and rewards.
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
    std::int64_t from = 0;     // skips earlier steps, whose large losses would flatten the rest
    bool logarithmic = false;  // the losses
    double width = 64.0;       // in text sizes
    Look look = {};
};

// Draws charts below one another and skips empty ones: the losses (training and validation separately if there are
// several runs), the learning rate, BLEU, each of kTrainingMeasures. A run has the same colour in all charts. Error if
// there is nothing to plot.
Drawing draw_training_plot(const std::vector<PlottedRun>& runs, const TrainingPlotOptions& options);

// Of those, the charts of kTrainingMeasures for one run. Empty if it has none.
std::vector<Drawing> draw_measures(const TrainingLog& log, const TrainingPlotOptions& options);
// The unit of its losses.
const char* unit_of_loss(const TrainingLog& log);

}  // namespace headscope
