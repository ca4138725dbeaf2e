// The controls of each panel, to its right.
#include <algorithm>
#include <charconv>

#include <fmt/format.h>
#include <imgui.h>

#include "observe/family_labels.h"
#include "support/counted.h"
#include "viewer/session/rows.h"
#include "viewer/session/shown.h"
#include "viewer/ui/attention_controls.h"
#include "viewer/ui/widgets.h"

namespace headscope::viewer {

namespace {

void model_controls(Interface& ui) {
    const auto& model = ui.session.scene().main.model;
    if (model.has_value()) {
        heading(ui, model->name.c_str());
        remark(ui, fmt::format("{:.1f} M parameters, {}, d_model {}", static_cast<double>(model->parameters) / 1e6,
                               model->config.attention.decoder_heads > 0
                                   ? both_stacks(model->config.attention.heads, model->config.attention.decoder_heads) +
                                         " heads"
                                   : counted(model->config.attention.heads, "head"),
                               model->config.d_model));
        remark(ui, fmt::format("{}, {}", model->device, model->arithmetic));
    }
    if (button(ui, "models", "Open another\u2026")) {
        ui.show(Overlay::Models);
    }
    remark(ui,
           "Figures 1 and 2 of the paper, with this model's shapes and parameter counts. Click a block for its "
           "weights, double-click an attention for its heads.");
    const std::vector<WeightStatistics>* weights = shown_weights(ui.session.scene());
    if (weights == nullptr) {
        return;
    }
    heading(ui, ui.state().block.c_str());
    for (const WeightStatistics& weight : *weights) {
        const std::string line = fmt::format("{}: {:.3g} \u00B1 {:.3g}", weight.name.substr(ui.state().block.size()),
                                             weight.mean, weight.deviation);
        remark(ui, line);
        ui.probes.item("weights." + weight.name, line);
    }
}

void start_comparison(Interface& ui) {
    const std::string& step = ui.typed_other_step;
    std::int64_t number = 0;
    const auto [end, problem] = std::from_chars(step.data(), step.data() + step.size(), number);
    if (!step.empty() && (problem != std::errc() || end != step.data() + step.size())) {
        ui.session.report_error("the step must be a number such as 2000, got \"" + step + "\"");
        return;
    }
    ui.session.compare_with(ui.typed_other_model.empty() ? ui.session.model_path() : ui.typed_other_model,
                            ui.typed_other_device, step.empty() ? std::nullopt : std::optional(number));
}

void compare_controls(Interface& ui) {
    if (!attentions_of(ui.session.scene()).empty()) {
        kind_and_layer(ui, true);
        heads_row(ui, shown_site(ui.session.scene()));
    }
    heading(ui, "With");
    text_field(ui, "compare.model", "model directory (empty: the same)", ui.typed_other_model, false);
    device_combo(ui, "compare.device", ui.typed_other_device);
    text_field(ui, "compare.step", "step of a training's checkpoint", ui.typed_other_step, false);
    if (button(ui, "compare.start", "Compare")) {
        start_comparison(ui);
    }
    ImGui::SameLine();
    if (button(ui, "compare.end", "End", nullptr, ui.session.scene().other.has_value())) {
        ui.session.end_comparison();
    }
    remark(ui, "The difference map is left minus right, weight by weight, where both read the same tokens.");
}

void tree_controls(Interface& ui) {
    const auto& model = ui.session.scene().main.model;
    if (const int layers = model.has_value() ? headscope::layers_of(model->config, AttentionKind::Cross) : 0;
        layers > 0) {
        heading(ui, "Attention");
        layer_stepper(ui, layers);
        heads_row(ui, {AttentionKind::Cross, shown_layer(ui.state(), layers) - 1});
    }
    search_controls(ui);
    remark(ui,
           "The constituency tree that the model wrote, and below it what each head of the cross-attention looked at "
           "for one of its symbols. Point at a constituent or a tag for its symbol; click to keep it.");
}

void training_controls(Interface& ui) {
    const auto& run = ui.session.scene().run;
    if (ui.session.scene().experiment != nullptr) {
        remark(ui, "A trial of an experiment: click a row of the table for its training, again for its next seed.");
    }
    if (run == nullptr) {
        remark(ui,
               "Open the folder of a training (of `headscope train`), running or over: its checkpoints can be "
               "stepped through, and a fixed sentence's heads watched as they form.");
    } else {
        const auto& model = ui.session.scene().main.model;
        const auto& steps = run->checkpoints;
        if (!steps.empty() && model.has_value() && model->checkpoint.has_value()) {
            heading(ui, "Checkpoint");
            const auto at = std::lower_bound(steps.begin(), steps.end(), *model->checkpoint);
            int index = static_cast<int>(std::min<std::ptrdiff_t>(at - steps.begin(), std::ssize(steps) - 1)) + 1;
            const std::string label = fmt::format("step {} ({} of {})", *model->checkpoint, index, steps.size());
            if (stepper(ui, "checkpoint", label, index, 1, static_cast<int>(steps.size()))) {
                ui.session.open_checkpoint(steps[static_cast<std::size_t>(index - 1)]);
            }
        }
        if (!attentions_of(ui.session.scene()).empty()) {
            kind_and_layer(ui, true);
            heads_row(ui, shown_site(ui.session.scene()));
        }
    }
    if (button(ui, "models", "Open\u2026")) {
        ui.show(Overlay::Models);
    }
}

}  // namespace

void show_controls(Interface& ui) {
    switch (ui.state().panel) {
        case PanelId::Figure: figure_controls(ui); break;
        case PanelId::Heads: heads_controls(ui); break;
        case PanelId::Matrix: matrix_controls(ui); break;
        case PanelId::Time: time_controls(ui); break;
        case PanelId::Surgery: surgery_controls(ui); break;
        case PanelId::Model: model_controls(ui); break;
        case PanelId::Compare: compare_controls(ui); break;
        case PanelId::Training: training_controls(ui); break;
        case PanelId::Tree: tree_controls(ui); break;
    }
}

}  // namespace headscope::viewer
