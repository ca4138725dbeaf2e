// The controls of panels that show attention.
#include "viewer/ui/attention_controls.h"

#include <algorithm>

#include <fmt/format.h>
#include <imgui.h>

#include "model/family.h"
#include "observe/family_labels.h"
#include "support/check.h"
#include "viewer/draw/theme.h"
#include "viewer/panels/panels.h"
#include "viewer/session/rows.h"
#include "viewer/session/wording.h"
#include "viewer/ui/widgets.h"

namespace headscope::viewer {

void row_toggles(Interface& ui) {
    ViewState& state = ui.state();
    bool pieces = !state.join_words;
    if (toggle(ui, "pieces", "The model's pieces", pieces,
               "The model reads pieces of words. Joined to words, weights are summed over the key's pieces and "
               "averaged over the query's.")) {
        state.join_words = !pieces;
        state.word = state.key = -1;
    }
    bool hidden = !state.show_special;
    const auto& shown = ui.session.scene().main.shown;
    const std::string ends = shown == nullptr ? ends_of(AttentionRecord()) : ends_of(shown->record);
    if (toggle(ui, "special", ("Hide " + ends).c_str(), hidden,
               "The other weights are renormalised, so that rows still add up to 1, which a note mentions.")) {
        state.show_special = !hidden;
        state.word = state.key = -1;
    }
}

void layer_stepper(Interface& ui, int layers) {
    layers = std::max(layers, 1);
    int layer = shown_layer(ui.state(), layers);
    if (stepper(ui, "layer", fmt::format("Layer {} of {}", layer, layers), layer, 1, layers)) {
        ui.state().layer = layer;
    }
}

// Says so instead if the model has no attention.
bool has_heads(Interface& ui) {
    if (const Side& side = ui.session.scene().main; !side.model.has_value()) {
        if (!side.problem.empty() && button(ui, "models", "Open another model\u2026")) {
            ui.show(Overlay::Models);
        }
        return false;
    }
    if (!attentions_of(ui.session.scene()).empty()) {
        return true;
    }
    heading(ui, "Attention");
    remark(ui, "This model has none: the other panels show what it writes, its candidates and its parts.");
    return false;
}

namespace {

// A choice of the kinds that the model has.
void kind_choice(Interface& ui, const std::vector<AttentionKind>& kinds) {
    ViewState& state = ui.state();
    std::vector<const char*> names;
    for (const AttentionKind kind : kinds) {
        names.push_back(traits(family_of(ui.session.scene()), kind).name);
    }
    const AttentionKind shown = shown_kind(ui.session.scene());
    int chosen = static_cast<int>(std::find(kinds.begin(), kinds.end(), shown) - kinds.begin());
    if (segmented(ui, "kind", chosen, names)) {
        state.kind = kinds[static_cast<std::size_t>(chosen)];
        state.word = -1;
        state.key = -1;
    }
}

}  // namespace

void kind_and_layer(Interface& ui, bool with_layer) {
    const std::vector<AttentionKind> kinds = attentions_of(ui.session.scene());
    const bool translates = traits(family_of(ui.session.scene())).reads_source;
    if (translates || with_layer) {
        heading(ui, "Attention");
    }
    if (translates) {  // a language model has one kind
        kind_choice(ui, kinds);
    }
    if (with_layer) {
        layer_stepper(ui, layers_of(ui.session.scene()));
    }
}

namespace {

bool is_switched_off(const Scene& scene, const AttentionSite& site, int head) {
    const AttentionEdit off{.site = site, .head = head};
    return std::find(scene.state.edits.begin(), scene.state.edits.end(), off) != scene.state.edits.end();
}

void strike_out(const Interface& ui) {
    const ImVec2 low = ImGui::GetItemRectMin();
    const ImVec2 high = ImGui::GetItemRectMax();
    ImDrawList& list = *ImGui::GetWindowDrawList();
    list.AddLine(ImVec2(low.x, high.y), ImVec2(high.x, low.y), to_u32(ui.ink().paper), 4.0F * ui.scale());
    list.AddLine(ImVec2(low.x, high.y), ImVec2(high.x, low.y), to_u32(ui.ink().text), 1.5F * ui.scale());
}

}  // namespace

void heads_row(Interface& ui, const AttentionSite& site) {
    heading(ui, "Heads");
    const int heads = std::max(heads_of(ui.session.scene(), site.kind), 1);
    const std::vector<int> active = active_heads(ui.state(), heads);
    const float side = 1.75F * ui.em();
    const float room = ImGui::GetContentRegionAvail().x;
    float used = 0.0F;
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(2.0F, 2.0F));
    for (int head = 1; head <= heads; ++head) {
        if (head > 1 && used + side <= room) {
            ImGui::SameLine();
        } else {
            used = 0.0F;
        }
        used += side + 2.0F;
        const bool on = std::find(active.begin(), active.end(), head) != active.end();
        const Colour full = head_colour(ui.state().palette, head, ui.ink());
        const Colour colour = on ? full : faded(full, ui.ink());
        ImGui::PushStyleColor(ImGuiCol_Button, to_vec4(colour));
        ImGui::PushStyleColor(ImGuiCol_ButtonHovered, to_vec4(mixed(colour, ui.ink().text, 0.15)));
        ImGui::PushStyleColor(ImGuiCol_Text, to_vec4(on ? text_colour_on(full) : ui.ink().off));
        if (ImGui::Button(fmt::format("{}##head", head).c_str(), ImVec2(side, side))) {
            toggle_head(ui.state(), heads, head, ImGui::GetIO().KeyShift);
        }
        ImGui::PopStyleColor(3);
        ui.probes.item(fmt::format("head.{}", head), on ? "on" : "off");
        if (is_switched_off(ui.session.scene(), site, head)) {
            strike_out(ui);
            tip("The model runs without this head. Surgery switches it on again.");
            continue;
        }
        tip("Click to toggle. Shift+click to show only this head, or all again.");
    }
    ImGui::PopStyleVar();
}

void figure_controls(Interface& ui) {
    ViewState& state = ui.state();
    if (!has_heads(ui)) {
        return;
    }
    kind_and_layer(ui, true);
    heads_row(ui, shown_site(ui.session.scene()));
    heading(ui, "Words");
    segmented_enum(ui, "direction", state.direction, {"Where it looks", "Who looks here"});
    row_toggles(ui);
    heading(ui, "Drawing");
    int mode = state.overview ? 1 : 0;
    if (segmented(ui, "mode", mode, {"As the paper", "Overview"})) {
        state.overview = mode == 1;
    }
    tip("Overview: with no word chosen each line is drawn at its weight divided by the number of heads.");
    segmented_enum(ui, "colours", state.palette, {"Paper", "Okabe-Ito"});
    remark(ui,
           "A line's opacity is the weight. Point at a word to see its lines alone, click to keep it. "
           "Attention shows where a head reads from, not by itself why a word was chosen.");
}

void heads_controls(Interface& ui) {
    ViewState& state = ui.state();
    if (!has_heads(ui)) {
        return;
    }
    kind_and_layer(ui, false);
    heading(ui, "Order");
    int order = static_cast<int>(state.order);
    if (segmented(ui, "order", order, {"Layers", "Entropy", "Distance", "Sharpness", "Diagonal"})) {
        state.order = static_cast<HeadOrder>(order);
    }
    heading(ui, "Pictures");
    int lines = state.small_figures ? 1 : 0;
    if (segmented(ui, "pictures", lines, {"Matrices", "Figures"})) {
        state.small_figures = lines == 1;
    }
    row_toggles(ui);
    remark(ui,
           "Click a head to open it. Diagonals: every word looks at its neighbours. Columns: every word looks at the "
           "same one.");
}

namespace {

void copy_matrix(Interface& ui) {
    try {
        ImGui::SetClipboardText(matrix_tsv(ui.session.scene()).c_str());
        ui.session.notify("Copied the matrix");
    } catch (const Error& error) {  // there is none yet
        ui.session.report_error(error.what());
    }
}

}  // namespace

void matrix_controls(Interface& ui) {
    ViewState& state = ui.state();
    if (!has_heads(ui)) {
        return;
    }
    kind_and_layer(ui, true);
    heads_row(ui, shown_site(ui.session.scene()));
    heading(ui, "Shown");
    segmented_enum(ui, "matrix", state.matrix, {"Head", "Mean of heads", "Mean of layers", "Rollout"});
    if (state.matrix != MatrixView::Head) {
        remark(ui, "Computed from weights: not what any one head looked at.");
    }
    heading(ui, "Scale");
    int scale = state.logarithmic ? 1 : 0;
    if (segmented(ui, "scale", scale, {"Linear", "Logarithmic"})) {
        state.logarithmic = scale == 1;
    }
    row_toggles(ui);
    if (button(ui, "copy", "Copy as TSV", "The exact weights, for a spreadsheet")) {
        copy_matrix(ui);
    }
    remark(ui, "Click a cell: its query and key are multiplied out below, as equation 1 says.");
}

namespace {

// Whether the edit has no effect on this sentence.
bool is_ineffective(const Interface& ui, const AttentionEdit& edit) {
    const Scene& scene = ui.session.scene();
    if (scene.main.shown == nullptr || !edits_answered(scene)) {
        return false;
    }
    const auto& idle = scene.main.shown->without_effect;
    return std::find(idle.begin(), idle.end(), edit) != idle.end();
}

void edit_row(Interface& ui, std::size_t index) {
    ViewState& state = ui.state();
    const AttentionEdit& edit = state.edits[index];
    ImGui::PushID(static_cast<int>(index));
    if (ImGui::SmallButton("\u00D7")) {
        state.edits.erase(state.edits.begin() + static_cast<std::ptrdiff_t>(index));
        ImGui::PopID();
        return;
    }
    ui.probes.item(fmt::format("edit.{}.remove", index));
    ImGui::SameLine();
    const std::string text =
        describe(edit, family_of(ui.session.scene())) + (is_ineffective(ui, edit) ? " (no effect here)" : "");
    ImGui::TextUnformatted(text.c_str());
    ui.probes.item(fmt::format("edit.{}", index), text);
    ImGui::PopID();
}

}  // namespace

void surgery_controls(Interface& ui) {
    ViewState& state = ui.state();
    if (!has_heads(ui)) {
        return;
    }
    kind_and_layer(ui, true);
    const AttentionSite site = shown_site(ui.session.scene());
    const int head = first_head(ui.session.scene());
    heads_row(ui, site);
    if (button(ui, "edit.off", fmt::format("Head {} off", head).c_str(), "The head's output is 0")) {
        switch_head(state, site, head);
    }
    ImGui::SameLine();
    if (button(ui, "edit.uniform", "Uniform", "The head attends to all words equally")) {
        put_edit(state, {.site = site, .head = head, .kind = EditKind::Uniform});
    }
    ImGui::SameLine();
    if (button(ui, "edit.pin", "Pin",
               "The chosen word attends only to the other chosen word (choose both in the matrix)",
               pinnable(ui.session.scene()))) {
        put_edit(state, pinned(ui.session.scene()));
    }
    for (std::size_t index = 0; index < state.edits.size(); ++index) {
        edit_row(ui, index);
    }
    if (button(ui, "edits.clear", "Clear all edits", "R", !state.edits.empty())) {
        state.edits.clear();
    }
    heading(ui, "Importance");
    if (button(
            ui, "importance", ui.session.measuring() ? "Measuring \u2026" : "Leave each head out",
            fmt::format("How much log probability the {} loses without each head", noun_of(ui.session.scene())).c_str(),
            !ui.session.measuring())) {
        ui.session.measure_importance();
    }
    remark(ui,
           "A head that is switched off changes what later layers read: a small loss can mean that others stood in "
           "for it. That is why importance is measured by leaving out, and not read off the weights.");
}

}  // namespace headscope::viewer
