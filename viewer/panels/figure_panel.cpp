// The paper's figure of the selected heads.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "figures/picture_attention.h"
#include "paint/hit.h"
#include "support/counted.h"
#include "viewer/panels/controls.h"
#include "viewer/panels/numbers.h"
#include "viewer/panels/parts.h"
#include "viewer/session/rows.h"

namespace headscope::viewer {

namespace {

constexpr int kMostLines = 20;  // of each word, for the stepper

const SelectedAttention& shown_figure(const Scene& scene, RecordParts& parts) {
    return parts.selected(scene.main.shown, word_selection_of(scene, scene.main.shown->record));
}

Drawing draw_main_figure(const Scene& scene, const PanelOptions& options, RecordParts& parts) {
    return draw_selected(scene, scene.main, shown_figure(scene, parts), shown_kind(scene), options);
}

std::string caption_of(const Scene& scene, const RowItem& item, bool word) {
    return shows_patches(scene) && !word ? name_of_patch(item) : fmt::format("\u201C{}\u201D", item.label);
}

// "Layer 1, head 8: “it” looks at “cat”, 0.54"
std::string figure_caption(const Scene& scene, RecordParts& parts) {
    const SelectedAttention& shown = shown_figure(scene, parts);
    const bool alone = shown.heads.size() == 1;
    const std::string what =
        fmt::format("Layer {}, {}", shown.layer,
                    alone ? fmt::format("head {}", shown.heads.front()) : counted(shown.heads.size(), "head"));
    const bool from = shown.chosen.size() == 1;
    if (!from && shown.chosen_keys.size() != 1) {
        return what;
    }
    const StrongestPair pair = strongest_pair(shown);
    const std::string query = caption_of(scene, shown.queries[pair.query], shown_kind(scene) == AttentionKind::Cross);
    const std::string key = caption_of(scene, shown.keys[pair.key], false);
    return fmt::format("{}: {} {} {}{}, {:.2f}", what, from ? query : key,
                       !from   ? "is looked at most by"
                       : alone ? "looks at"
                               : "looks most at",
                       from ? key : query, alone ? "" : fmt::format(" in head {}", pair.head), pair.weight);
}

// Of attention that is drawn on a picture.
void patch_controls(Controls& ui) {
    ViewState& state = ui.state();
    if (ui.button("heads.all", "All heads", "A", !state.heads.empty())) {
        state.heads.clear();
    }
    const bool words = shown_kind(ui.scene()) == AttentionKind::Cross;
    if (!words) {
        ui.heading("Patches");
        ui.choice("direction", state.direction, {"Attends to", "Attended by"});
    }
    const bool has_class = ui.scene().main.model->config.input.class_token;
    if (ui.button("words.clear",
                  words       ? "All words"
                  : has_class ? "The class token"
                              : "All patches",
                  "Escape", state.word >= 0)) {
        state.word = state.key = -1;
    }
    ui.remark(words ? "Colour is weight, of one scale for all copies. Click the copy of a word to see its heads one "
                      "by one."
                    : "Colour is weight, of one scale for all heads. Point at a patch of the picture to see what it "
                      "looks at, click to keep it.");
}

void figure_controls(Controls& ui) {
    ViewState& state = ui.state();
    if (!has_heads(ui)) {
        return;
    }
    attention_choice(ui);
    if (shows_patches(ui.scene())) {
        patch_controls(ui);
        return;
    }
    if (ui.button("find", "Find a head\u2026", "Heads by what they do in this sentence")) {
        ui.run("panel.find");
    }
    ui.beside();
    if (ui.button("heads.all", "All heads", "A", !state.heads.empty())) {
        state.heads.clear();
    }
    ui.heading("Words");
    ui.choice("direction", state.direction, {"Attends to", "Attended by"});
    row_toggles(ui);
    ui.heading("Drawing");
    bool overview = shows_overview(state, heads_of(ui.scene()));
    if (ui.choice("mode", overview, {"As the paper", "Overview"},
                  "Overview: the heads' lines of a pair of words lie side by side, and with no word chosen each is "
                  "drawn at its "
                  "weight divided by the root of the number of heads.")) {
        state.overview = overview;
    }
    if (ui.slider("least", state.least, 0.0, 1.0, fmt::format("weights from {:.2f}", state.least))) {
        state.least = std::round(state.least * 100.0) / 100.0;
    }
    ui.stepper("top", state.top == 0 ? "every line" : fmt::format("{} of each word", counted(state.top, "line")),
               state.top, 0, kMostLines);
    ui.toggle("numbers", "Numbers of a chosen word", state.numbers);
    ui.choice("colours", state.palette, {"Paper", "Okabe-Ito"});
    ui.remark(
        "A line's opacity is the weight. Point at a word to see its lines alone, click to keep it. "
        "Attention shows where a head reads from, not by itself why a word was chosen.");
}

// The column whose label in this row is nearest to the pointer: the whole column responds, not only the text.
int column_at(const Drawing& drawing, Point at, Role role, double pitch) {
    int column = -1;
    double nearest = 0.5 * pitch;
    double top = 1e30;
    double bottom = -1e30;
    for (const Primitive& primitive : drawing.primitives) {
        if (primitive.mark.role != role) {
            continue;
        }
        const Rect box = box_of(std::get<Text>(primitive.shape));
        top = std::min(top, box.y);
        bottom = std::max(bottom, box.y + box.height);
        const double away = std::abs(box.x + 0.5 * box.width - at.x);
        if (away < nearest) {
            nearest = away;
            column = role == Role::QueryLabel ? primitive.mark.query : primitive.mark.key;
        }
    }
    return at.y >= top && at.y <= bottom ? column : -1;
}

// Of a picture a patch looks or is looked at; a copy with a word of the caption is that word's.
void patch_events(Controls& ui, const PanelEvents& events) {
    if (!events.hovered.has_value()) {
        return;
    }
    const bool words = shown_kind(ui.scene()) == AttentionKind::Cross;
    const Mark& mark = *events.hovered;
    const int column = words ? mark.query : mark.key;
    if (column < 0) {
        return;
    }
    ui.point_out();
    if (!words && mark.role == Role::Block) {
        ui.session.hover_word(column);
    }
    if (events.clicked) {
        int& word = ui.state().word;
        word = word == column ? -1 : column;
    }
}

void figure_events(Controls& ui, const Drawing& drawing, const PanelEvents& events) {
    ViewState& state = ui.state();
    const bool swatch = events.hovered.has_value() &&
                        (events.hovered->role == Role::Swatch || events.hovered->role == Role::SwatchLabel);
    if (swatch && ui.scene().main.model.has_value()) {
        // The first press of a double click also counted as a click, which does not change the result.
        if (events.double_clicked || events.clicked) {
            toggle_head(state, heads_of(ui.scene()), events.hovered->head, events.double_clicked);
        }
        return;
    }
    if (shows_patches(ui.scene())) {
        patch_events(ui, events);
        return;
    }
    const double pitch = kFigurePitch * static_cast<double>(ui.em());
    const Role role = state.direction == Direction::From ? Role::QueryLabel : Role::KeyLabel;
    const int column = events.pointer.has_value() ? column_at(drawing, *events.pointer, role, pitch) : -1;
    ui.session.hover_word(column);
    if (events.clicked && column >= 0) {
        state.word = state.word == column ? -1 : column;
    }
}

}  // namespace

const Panel kFigurePanel{.id = PanelId::Figure,
                         .title = "Figure",
                         .unfit = no_attention,
                         .missing = missing_figure,
                         .draw = draw_main_figure,
                         .caption = figure_caption,
                         .numbers = figure_numbers,
                         .contents = figure_contents,
                         .forget_unseen = forget_input,
                         .pointable = {Role::Swatch, Role::SwatchLabel, Role::Attention, Role::Slab, Role::QueryLabel,
                                       Role::KeyLabel, Role::ChosenWord, Role::Cell, Role::Block},
                         .controls = figure_controls,
                         .events = figure_events};

}  // namespace headscope::viewer
