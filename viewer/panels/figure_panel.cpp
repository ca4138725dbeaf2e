// The paper's figure of the selected heads.
#include <algorithm>
#include <cmath>

#include "paint/hit.h"
#include "viewer/panels/controls.h"
#include "viewer/panels/numbers.h"
#include "viewer/panels/parts.h"
#include "viewer/session/rows.h"

namespace headscope::viewer {

namespace {

Drawing draw_main_figure(const Scene& scene, const PanelOptions& options, RecordParts& parts) {
    return draw_figure(parts.selected(scene.main.shown, word_selection_of(scene, scene.main.shown->record)),
                       figure_options(scene, options));
}

void figure_controls(Controls& ui) {
    ViewState& state = ui.state();
    if (!has_heads(ui)) {
        return;
    }
    attention_choice(ui);
    ui.heading("Words");
    ui.choice("direction", state.direction, {"Where it looks", "Who looks here"});
    row_toggles(ui);
    ui.heading("Drawing");
    ui.choice("mode", state.overview, {"As the paper", "Overview"},
              "Overview: with no word chosen each line is drawn at its weight divided by the number of heads.");
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
                         .offered = has_attention,
                         .missing = missing_figure,
                         .draw = draw_main_figure,
                         .numbers = figure_numbers,
                         .contents = figure_contents,
                         .forget_unseen = forget_input,
                         .pointable = {Role::Swatch, Role::SwatchLabel, Role::Attention, Role::Slab, Role::QueryLabel,
                                       Role::KeyLabel, Role::ChosenWord},
                         .controls = figure_controls,
                         .events = figure_events};

}  // namespace headscope::viewer
