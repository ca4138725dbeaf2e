// Every head of every layer as a small picture.
#include "figures/all_heads.h"
#include "observe/record_json.h"
#include "viewer/panels/controls.h"
#include "viewer/panels/numbers.h"
#include "viewer/panels/parts.h"
#include "viewer/session/rows.h"

namespace headscope::viewer {

namespace {

// The overview is as wide as the panel, unless that made its text smaller than this share of the other panels'.
constexpr double kSmallestText = 0.75;

Drawing draw_heads(const Scene& scene, const PanelOptions& options, RecordParts& parts) {
    const AttentionKind kind = shown_kind(scene);
    Look look = look_of(options);
    look.tips = true;  // few, and not in Panel::contents
    const AllHeadsOptions all{.width = options.width / options.text_size / kSmallestText,
                              .note = legend_of(scene.state.order),
                              .lines = scene.state.small_figures,
                              .palette = scene.state.palette,
                              .look = look};
    const auto& shown = scene.main.shown;
    return draw_all_heads(parts.thumbnails(shown, kind, all.lines, row_options(scene.state)),
                          head_tiles(shown->record, parts.statistics(shown), kind, scene.state.order), all);
}

nlohmann::json heads_numbers(const Scene& scene) {
    return nlohmann::json::parse(to_json(scene.main.shown->record));
}

// Drawing the heads of a long text takes longer than a frame, so typing and what other panels show must not repeat it.
void forget_unseen_by_heads(ViewState& state) {
    ViewState seen;
    seen.kind = state.kind;
    seen.order = state.order;
    seen.small_figures = state.small_figures;
    seen.join_words = state.join_words;
    seen.show_special = state.show_special;
    seen.palette = state.palette;
    state = seen;
}

void heads_controls(Controls& ui) {
    if (!has_heads(ui)) {
        return;
    }
    kind_and_layer(ui, false);
    ui.heading("Order");
    ui.choice("order", ui.state().order, {"Layers", "Entropy", "Distance", "Sharpness", "Diagonal"});
    ui.heading("Pictures");
    ui.choice("pictures", ui.state().small_figures, {"Matrices", "Figures"});
    row_toggles(ui);
    ui.remark(
        "Click a head to open it. Diagonals: every word looks at its neighbours. Columns: every word looks at the "
        "same one.");
}

void heads_events(Controls& ui, const Drawing& /*drawing*/, const PanelEvents& events) {
    if (!events.hovered.has_value() || events.hovered->head == 0 || events.hovered->layer == 0) {
        return;
    }
    ui.point_out();
    if (events.clicked) {
        ViewState& state = ui.state();
        state.layer = events.hovered->layer;
        state.heads = {events.hovered->head};
        state.panel = PanelId::Figure;
    }
}

}  // namespace

const Panel kHeadsPanel{.id = PanelId::Heads,
                        .title = "All heads",
                        .offered = has_attention,
                        .missing = missing_figure,
                        .draw = draw_heads,
                        .numbers = heads_numbers,
                        .forget_unseen = forget_unseen_by_heads,
                        .follows_pointer = false,
                        .controls = heads_controls,
                        .events = heads_events};

}  // namespace headscope::viewer
