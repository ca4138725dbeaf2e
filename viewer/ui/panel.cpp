// A panel: its drawing, what pointing and clicking do, and its controls.
#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "text/normalised.h"
#include "viewer/session/wording.h"
#include "viewer/ui/interface.h"
#include "viewer/ui/widgets.h"

namespace headscope::viewer {

namespace {

constexpr double kWidest = 80.0;  // text sizes; a wider panel has larger drawings

std::vector<TipBar> bars_of(Interface& ui, PanelId panel, const Mark& mark) {
    std::vector<TipBar> bars;
    for (const HeadWeight& one : ui.pictures.bars(panel, mark)) {
        bars.push_back(
            {fmt::format("head {}", one.head), one.weight, head_colour(ui.state().palette, one.head, ui.ink())});
    }
    return bars;
}

// Without a text there is nothing to show, but something to begin with.
void offer_examples(Interface& ui) {
    if (!is_empty_text(ui.state().text)) {
        return;
    }
    const std::vector<std::string>& examples = wording(ui.session.scene()).examples;
    if (examples.empty()) {
        if (ui.button("begin.picture", "Open a picture\u2026")) {
            ui.show(Overlay::Open);
        }
        return;
    }
    ui.heading("Begin with an example");
    for (std::size_t i = 0; i < examples.size(); ++i) {
        const std::string name = fmt::format("begin.{}", i);
        if (text_row(name, examples[i], false, 0.0F)) {
            new_sentence(ui.state(), examples[i]);
        }
        ui.probes.item(name, examples[i]);
    }
}

}  // namespace

void show_panel(Interface& ui, PanelId id) {
    const Panel& panel = panel_of(id);
    const Scene& scene = ui.session.scene();
    // Drawings use the window's text size. Dear ImGui measures it by line height.
    const double size = std::round(static_cast<double>(ui.em()) / 1.25);
    const auto room = static_cast<double>(ImGui::GetContentRegionAvail().x);
    const PanelOptions options{
        .ink = ui.ink(), .text_size = size, .width = std::min(room, kWidest * size), .tips = false};
    const Drawing& drawing = ui.pictures.of(scene, id, options);
    if (panel.caption != nullptr) {  // takes its room also when it is empty, so that the drawing stays in its place
        ui.heading(ui.pictures.caption(scene, id));
        ui.probes.item(fmt::format("{}.caption", name_of(id)), ui.pictures.caption(scene, id));
    }
    if (panel.below == nullptr) {
        offer_examples(ui);
    }
    CanvasOptions canvas{
        .roles = panel.pointable,
        .fit_height = panel.fit_height,
        .follow_end = panel.follows_end,
        .below = panel.below == nullptr ? 0.0F : ImGui::GetFrameHeight() + ImGui::GetStyle().ItemSpacing.y,
        .pages = id == ui.state().panel && ui.overlay == Overlay::None ? std::exchange(ui.pages, 0.0F) : 0.0F,
        .tip = [&](const Mark& mark) { return ui.pictures.tip(id, mark); },
        .bars = [&](const Mark& mark) { return bars_of(ui, id, mark); }};
    if (!panel.fit_height) {
        canvas.most_fit = 1.25F;  // what scrolls needs no large letters
    }
    if (panel.elsewhere != nullptr) {
        canvas.elsewhere = [&](Point at) { return panel.elsewhere(scene, drawing, at); };
    }
    const PanelEvents events =
        show_canvas(name_of(id), drawing, ui.canvases[static_cast<std::size_t>(id)], ui.fonts, ui.probes, canvas);
    ui.session.hover_word(-1);
    ui.session.hover_step(-1);
    if (panel.events != nullptr) {
        panel.events(ui, drawing, events);
    }
    if (panel.below != nullptr) {
        panel.below(ui);
    }
}

void show_controls(Interface& ui) {
    panel_of(ui.state().panel).controls(ui);
}

}  // namespace headscope::viewer
