// Plots one or more training runs: losses, learning rate and, if measured, BLEU.
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
// several runs), the learning rate, BLEU. A run has the same colour in all charts. Error if there is nothing to plot.
Drawing draw_training_plot(const std::vector<PlottedRun>& runs, const TrainingPlotOptions& options);

}  // namespace headscope
