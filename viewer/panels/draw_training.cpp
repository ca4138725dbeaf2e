// A training: its loss, its checkpoints, and the heads of the open checkpoint.
#include <algorithm>

#include <fmt/format.h>

#include "figures/curve.h"
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

}  // namespace

Drawing draw_training(const Scene& scene, const PanelOptions& options) {
    if (scene.run == nullptr) {
        return draw_remark(
            "This is a model, not a training. Open the folder of a training to step through its "
            "checkpoints (Ctrl+O, or drop it here).",
            options);
    }
    const TrainingRun& run = *scene.run;
    std::vector<Series> series{{.name = "training", .points = points_of(run.training)}};
    if (!run.validation.empty()) {
        series.push_back({.name = "validation", .points = points_of(run.validation)});
    }
    series.push_back(checkpoints_of(run));
    std::vector<Drawing> parts;
    parts.push_back(draw_curves(series, {.title = "Loss",
                                         .y_label = "nats per token, unsmoothed",
                                         .width = std::clamp(options.width / options.text_size - 4.0, 30.0, 70.0),
                                         .height = 20.0,
                                         .chosen = open_checkpoint(scene),
                                         .look = look_of(options)}));
    const std::string nothing = nothing_there(scene.main);
    if (!nothing.empty()) {
        parts.push_back(draw_remark(nothing, options));
    } else {
        parts.push_back(draw_heading(fmt::format("After step {}", scene.main.model->checkpoint.value_or(0)), options));
        parts.push_back(draw_attention(scene, scene.main, options));
    }
    return stacked(std::move(parts), options.text_size, options.ink);
}

}  // namespace headscope::viewer
