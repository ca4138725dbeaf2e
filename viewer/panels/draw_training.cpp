// A training: the table of its experiment, its loss, its checkpoints, and the heads of the open checkpoint.
#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "figures/curve.h"
#include "figures/experiment_drawing.h"
#include "paint/compose.h"
#include "viewer/panels/panels.h"

namespace headscope::viewer {

namespace {

std::vector<Point> points_of(const std::vector<LossPoint>& losses) {
    std::vector<Point> points;
    for (const LossPoint& loss : losses) {
        points.push_back({static_cast<double>(loss.step), loss.nll});
    }
    return points;
}

// Places each checkpoint on the curve, at the last loss reported by then.
Series checkpoints_of(const TrainingRun& run) {
    Series series{.name = "checkpoints", .points = {}, .markers = true};
    for (const std::int64_t step : run.checkpoints) {
        const auto behind = std::upper_bound(run.training.begin(), run.training.end(), step,
                                             [](std::int64_t at, const LossPoint& loss) { return at < loss.step; });
        const double nll = run.training.empty()             ? 0.0
                           : behind == run.training.begin() ? run.training.front().nll
                                                            : std::prev(behind)->nll;
        series.points.push_back({static_cast<double>(step), nll});
    }
    return series;
}

int open_checkpoint(const Scene& scene) {
    const auto& model = scene.main.model;
    if (!model.has_value() || !model->checkpoint.has_value()) {
        return -1;
    }
    const auto& steps = scene.run->checkpoints;
    const auto found = std::find(steps.begin(), steps.end(), *model->checkpoint);
    return found == steps.end() ? -1 : static_cast<int>(found - steps.begin());
}

// The row of the experiment whose trial is open.
int open_row(const Scene& scene) {
    const std::string open = scene.main.model.has_value() ? scene.main.model->name : "";
    const std::vector<ExperimentRow>& rows = scene.experiment->rows;
    const auto found = std::find_if(rows.begin(), rows.end(), [&](const ExperimentRow& row) {
        const auto is_open = [&](int seed) { return trial_name(row.name, seed) == open; };
        return std::any_of(row.seeds.begin(), row.seeds.end(), is_open) ||
               std::any_of(row.unfinished.begin(), row.unfinished.end(), is_open);
    });
    return found == rows.end() ? -1 : static_cast<int>(found - rows.begin());
}

}  // namespace

Drawing draw_training(const Scene& scene, const PanelOptions& options) {
    if (scene.run == nullptr) {
        return draw_remark(
            "This is a model, not a training. Open the folder of a training to step through its "
            "checkpoints (Ctrl+O, or drop it here).",
            options);
    }
    const TrainingRun& run = *scene.run;
    std::vector<Drawing> parts;
    if (scene.experiment != nullptr) {
        Look look = look_of(options);
        look.tips = true;  // few, and not in panel_contents()
        parts.push_back(draw_experiment(*scene.experiment, {.chosen = open_row(scene), .look = look}));
    }
    std::vector<Series> series{{.name = "training", .points = points_of(run.training)}};
    if (!run.validation.empty()) {
        series.push_back({.name = "validation", .points = points_of(run.validation)});
    }
    if (!run.checkpoints.empty()) {
        series.push_back(checkpoints_of(run));
    }
    parts.push_back(draw_curves(series, {.title = scene.experiment != nullptr && scene.main.model.has_value()
                                                      ? "Loss of " + scene.main.model->name
                                                      : "Loss",
                                         .y_label = "nats per token, unsmoothed",
                                         .width = std::clamp(options.width / options.text_size - 4.0, 30.0, 70.0),
                                         .height = 20.0,
                                         .chosen = open_checkpoint(scene),
                                         .look = look_of(options)}));
    const std::string nothing = nothing_there(scene.main);
    if (!nothing.empty()) {
        parts.push_back(draw_remark(nothing, options));
    } else {
        const std::optional<std::int64_t> step = scene.main.model->checkpoint;
        parts.push_back(
            draw_heading(step ? fmt::format("After step {}", *step) : "The model of this training", options));
        parts.push_back(draw_attention(scene, scene.main, options));
    }
    return stacked(std::move(parts), options.text_size, options.ink);
}

std::string trial_after(const Scene& scene, std::size_t row) {
    const ExperimentRow& wanted = scene.experiment->rows.at(row);
    std::vector<std::string> trials;
    for (const std::vector<int>& seeds : {wanted.seeds, wanted.unfinished}) {
        for (const int seed : seeds) {
            trials.push_back(trial_name(wanted.name, seed));
        }
    }
    if (trials.empty()) {
        return "";
    }
    const auto open = std::find(trials.begin(), trials.end(), scene.main.model ? scene.main.model->name : "");
    const bool next = open != trials.end() && std::next(open) != trials.end();
    return (std::filesystem::path(scene.experiment->folder) / (next ? *std::next(open) : trials.front())).string();
}

}  // namespace headscope::viewer
