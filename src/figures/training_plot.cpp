#include "figures/training_plot.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "figures/curve.h"
#include "paint/compose.h"
#include "support/check.h"

namespace headscope {

namespace {

constexpr double kLosses = 22.0, kOthers = 14.0;  // heights
constexpr double kAxisNumbers = 4.0;              // width of the y axis numbers, so that the charts line up
constexpr double kName = 16.0;                    // maximum width of a run's name in a title, in text sizes

using LossValue = std::function<double(const LossPoint&)>;

Series loss_series(std::string name, const std::vector<LossPoint>& log, const LossValue& value, std::int64_t from) {
    Series series{.name = std::move(name), .points = {}};
    for (const LossPoint& point : log) {
        if (const double at = value(point); point.step >= from && std::isfinite(at)) {
            series.points.push_back({static_cast<double>(point.step), at});
        }
    }
    return series;
}

LossValue value_of(const TrainingMeasure& measure) {
    return [key = measure.key](const LossPoint& point) {
        const auto found = point.measures.find(key);
        return found == point.measures.end() ? std::nan("") : found->second;
    };
}

class TrainingPlot {
public:
    TrainingPlot(const std::vector<PlottedRun>& runs, const TrainingPlotOptions& options)
        : runs_(runs), options_(options) {
        for (const PlottedRun& run : runs) {
            for (const std::vector<LossPoint>* log : {&run.log.training, &run.log.validation}) {
                for (const LossPoint& point : *log) {
                    if (point.step >= options.from) {
                        first_ = std::min(first_, static_cast<double>(point.step));
                        last_ = std::max(last_, static_cast<double>(point.step));
                    }
                }
            }
        }
    }

    Drawing draw() {
        const char* nats = unit_of_loss(runs_.front().log);
        if (runs_.size() == 1) {
            const TrainingLog& log = runs_.front().log;
            std::vector<Series> losses{of("training", log.training, &LossPoint::nll),
                                       of("validation", log.validation, &LossPoint::nll)};
            losses.push_back(of("validation, mean of the weights", log.validation, &LossPoint::mean_nll));
            while (!losses.empty() && losses.back().points.empty()) {
                losses.pop_back();
            }
            panel("Loss of " + shortened(runs_.front().name, kName), nats, kLosses, losses, options_.logarithmic);
        } else {
            panel("Loss in training", nats, kLosses, of_each(&TrainingLog::training, &LossPoint::nll),
                  options_.logarithmic);
            panel("Loss in validation", nats, kLosses, of_each(&TrainingLog::validation, &LossPoint::nll),
                  options_.logarithmic);
        }
        panel("Learning rate", "", kOthers, of_each(&TrainingLog::training, &LossPoint::learning_rate), false);
        panel("BLEU", "of the validation text", kOthers, of_each(&TrainingLog::validation, &LossPoint::bleu), false);
        measures();
        if (parts_.empty()) {
            throw Error("no steps to plot: the log is empty, or ends before --from");
        }
        return stacked(std::move(parts_), options_.look.text_size, options_.look.ink);
    }

    std::vector<Drawing> draw_measures() {
        measures();
        return std::move(parts_);
    }

private:
    // Of a single training with what its validations measure.
    void measures() {
        for (const TrainingMeasure& measure : kTrainingMeasures) {
            const LossValue value = value_of(measure);
            std::vector<Series> series = of_each(&TrainingLog::training, value);
            if (runs_.size() == 1) {
                Series validation = of("validation", runs_.front().log.validation, value);
                if (!validation.points.empty()) {
                    series.front().name = "training";
                    series.push_back(std::move(validation));
                }
            }
            panel(measure.title, measure.unit, kOthers, series, false);
        }
    }

    Series of(std::string name, const std::vector<LossPoint>& log, const LossValue& value) const {
        return loss_series(std::move(name), log, value, options_.from);
    }

    // A run without points keeps its index, so that the others keep their colours, but is not in the legend.
    std::vector<Series> of_each(std::vector<LossPoint> TrainingLog::*log, const LossValue& value) const {
        std::vector<Series> all;
        for (const PlottedRun& run : runs_) {
            all.push_back(of(run.name, run.log.*log, value));
            if (runs_.size() == 1 || all.back().points.empty()) {
                all.back().name.clear();
            }
        }
        return all;
    }

    void panel(std::string title, std::string unit, double height, const std::vector<Series>& series,
               bool logarithmic) {
        if (std::all_of(series.begin(), series.end(), [](const Series& one) { return one.points.empty(); })) {
            return;
        }
        parts_.push_back(draw_curves(series, {.title = std::move(title),
                                              .y_label = std::move(unit),
                                              .logarithmic = logarithmic,
                                              .width = options_.width,
                                              .height = height,
                                              .x_range = std::pair{first_, last_},
                                              .least_label = kAxisNumbers,
                                              .look = options_.look}));
    }

    const std::vector<PlottedRun>& runs_;
    const TrainingPlotOptions& options_;
    std::vector<Drawing> parts_;
    double first_ = 1e300, last_ = -1e300;  // range of the steps shown
};

}  // namespace

// Of trainings that compare responses the losses are per prompt.
const char* unit_of_loss(const TrainingLog& log) {
    const bool compares = !log.training.empty() && log.training.front().measures.contains("margin");
    return compares ? "nats per prompt, unsmoothed" : "nats per token, unsmoothed";
}

std::vector<Drawing> draw_measures(const TrainingLog& log, const TrainingPlotOptions& options) {
    const std::vector<PlottedRun> runs{{"", log}};
    return TrainingPlot(runs, options).draw_measures();
}

Drawing draw_training_plot(const std::vector<PlottedRun>& runs, const TrainingPlotOptions& options) {
    return TrainingPlot(runs, options).draw();
}

}  // namespace headscope
