// A training: the table of its experiment, its loss, its checkpoints, and the heads of the open checkpoint.
#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "figures/curve.h"
#include "figures/experiment_drawing.h"
#include "figures/training_plot.h"
#include "paint/compose.h"
#include "viewer/panels/controls.h"
#include "viewer/panels/numbers.h"
#include "viewer/panels/parts.h"

namespace headscope::viewer {

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

namespace {

using nlohmann::json;

std::string missing_training(const Scene& scene) {
    return scene.run == nullptr ? "This is a model, not a training." : "";
}

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

// What the training measures beside its loss, in two columns if there is room.
void append_measures(const TrainingRun& run, double width, const PanelOptions& options, std::vector<Drawing>& parts) {
    constexpr double kTwoColumns = 56.0;
    constexpr double kBetween = 2.0;
    const bool two = width >= kTwoColumns;
    std::vector<Drawing> charts =
        draw_measures(run, {.width = two ? 0.5 * (width - kBetween) : width, .look = look_of(options)});
    for (std::size_t i = 0; i < charts.size(); i += two ? 2 : 1) {
        if (two && i + 1 < charts.size()) {
            parts.push_back(side_by_side({std::move(charts[i]), std::move(charts[i + 1])}, kBetween * options.text_size,
                                         options.ink));
        } else {
            parts.push_back(std::move(charts[i]));
        }
    }
}

Drawing draw_training(const Scene& scene, const PanelOptions& options, RecordParts& /*parts*/) {
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
    const double width = std::clamp(options.width / options.text_size - 4.0, 30.0, 70.0);
    parts.push_back(draw_curves(series, {.title = scene.experiment != nullptr && scene.main.model.has_value()
                                                      ? "Loss of " + scene.main.model->name
                                                      : "Loss",
                                         .y_label = unit_of_loss(run),
                                         .width = width,
                                         .height = 20.0,
                                         .chosen = open_checkpoint(scene),
                                         .look = look_of(options)}));
    append_measures(run, width, options, parts);
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

json curve_json(const std::vector<LossPoint>& points) {
    json curve = json::array();
    for (const LossPoint& point : points) {
        curve.push_back({{"step", point.step}, {"loss", point.loss}, {"nll", point.nll}});
        curve.back().update(json(point.measures));
    }
    return curve;
}

json spread_json(const SeedSpread& spread) {
    return {{"mean", spread.mean}, {"deviation", spread.deviation ? json(*spread.deviation) : json()}};
}

json experiment_json(const ExperimentTable& table) {
    json rows = json::array();
    for (const ExperimentRow& row : table.rows) {
        const auto number = [](const std::optional<double>& value) { return value ? json(*value) : json(); };
        rows.push_back({{"row", row.name},
                        {"varied", row.varied},
                        {"seeds", row.seeds},
                        {"unfinished", row.unfinished},
                        {"paper", {{"perplexity", number(row.paper.perplexity)}, {"bleu", number(row.paper.bleu)}}}});
        if (row.ours) {
            rows.back()["ours"] = {{"perplexity", spread_json(row.ours->perplexity)},
                                   {"bleu", spread_json(row.ours->bleu)},
                                   {"parameters", row.ours->parameters}};
        }
    }
    return rows;
}

json training_numbers(const Scene& scene) {
    json out{{"checkpoints", scene.run->checkpoints},
             {"training", curve_json(scene.run->training)},
             {"validation", curve_json(scene.run->validation)}};
    if (scene.experiment != nullptr) {
        out["experiment"] = experiment_json(*scene.experiment);
    }
    if (scene.main.model.has_value() && scene.main.model->checkpoint.has_value()) {
        out["open"] = *scene.main.model->checkpoint;
    }
    if (missing_figure(scene).empty()) {
        out["attention"] = figure_numbers(scene);
    }
    return out;
}

void checkpoint_stepper(Controls& ui, const std::vector<std::int64_t>& steps) {
    const auto& model = ui.scene().main.model;
    if (steps.empty() || !model.has_value() || !model->checkpoint.has_value()) {
        return;
    }
    ui.heading("Checkpoint");
    const auto at = std::lower_bound(steps.begin(), steps.end(), *model->checkpoint);
    int index = static_cast<int>(std::min<std::ptrdiff_t>(at - steps.begin(), std::ssize(steps) - 1)) + 1;
    const std::string label = fmt::format("step {} ({} of {})", *model->checkpoint, index, steps.size());
    if (ui.stepper("checkpoint", label, index, 1, static_cast<int>(steps.size()))) {
        ui.session.open_checkpoint(steps[static_cast<std::size_t>(index - 1)]);
    }
}

void training_controls(Controls& ui) {
    if (ui.scene().experiment != nullptr) {
        ui.remark("A trial of an experiment: click a row of the table for its training, again for its next seed.");
    }
    if (const auto& run = ui.scene().run; run == nullptr) {
        ui.remark(
            "Open the folder of a training, which headscope train writes: you can step through its checkpoints and "
            "watch a sentence's heads form, also while it runs.");
    } else {
        checkpoint_stepper(ui, run->checkpoints);
        if (!attentions_of(ui.scene()).empty()) {
            attention_choice(ui);
        }
    }
    if (ui.button("models", "Open\u2026")) {
        ui.run("open");
    }
}

// A click on a row opens the training of its first seed; further clicks, those of the others.
void experiment_events(Controls& ui, const PanelEvents& events) {
    const Scene& scene = ui.scene();
    const auto row = static_cast<std::size_t>(events.hovered->item);
    if (scene.experiment == nullptr || events.hovered->item < 0 || row >= scene.experiment->rows.size()) {
        return;
    }
    const std::string trial = trial_after(scene, row);
    if (trial.empty()) {
        return;
    }
    ui.point_out();
    if (events.clicked && std::filesystem::path(trial).filename() != scene.main.model->name) {
        ui.session.open(trial, ui.session.device());
    }
}

void training_events(Controls& ui, const Drawing& /*drawing*/, const PanelEvents& events) {
    if (events.hovered.has_value() && events.hovered->role == Role::Block) {
        experiment_events(ui, events);
        return;
    }
    const auto& run = ui.scene().run;
    if (events.clicked && events.over_item() && events.hovered->role == Role::Point && run != nullptr &&
        events.hovered->item < std::ssize(run->checkpoints)) {
        ui.session.open_checkpoint(run->checkpoints[static_cast<std::size_t>(events.hovered->item)]);
    }
}

}  // namespace

const Panel kTrainingPanel{
    .id = PanelId::Training,
    .title = "Training",
    .missing = missing_training,
    .advice = " Open the folder of a training to step through its checkpoints (Ctrl+O, or drop it here).",
    .draw = draw_training,
    .numbers = training_numbers,
    .contents = figure_contents,
    .pointable = {Role::Point, Role::Curve, Role::Block, Role::Attention, Role::Slab},
    .controls = training_controls,
    .events = training_events};

}  // namespace headscope::viewer
