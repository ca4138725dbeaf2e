// The tour of the first start: each step points at a part of the window.
#include <array>

#include <fmt/format.h>
#include <imgui.h>

#include "viewer/draw/theme.h"
#include "viewer/ui/interface.h"

namespace headscope::viewer {

namespace {

struct TourStep {
    const char* at;  // an item, by its probe
    const char* text;
};
constexpr std::array<TourStep, 5> kSteps{
    {{"source",
      "Type any text: the model reads it while you write, and all panels follow. Help > Examples has some to begin "
      "with."},
     {"figure.queries.1",
      "The figure shows one layer as the paper draws it: lines go from each word to those that it reads from. It opens "
      "with the head that says most of this text. Point at a word to see only its lines, click to keep it."},
     {"panel.heads",
      "All heads shows every layer at once, Find a head ranks them by what they do, and the panels below change heads, "
      "compare, and look behind attention."},
     {"head.1",
      "The controls belong to the panel: kind of attention, layer, heads. A click shows or hides a head, "
      "a double-click shows it alone."},
     {"menu.Help",
      "Shift+F1 explains the panel that you see, Help > Glossary its terms. Ctrl+P finds every command, F1 lists the "
      "keys, and Ctrl+E saves what you see."}}};

void point_at(const Interface& ui, const char* name) {
    const std::optional<ImVec2> at = ui.probes.find(name);
    if (!at.has_value()) {
        return;
    }
    ImDrawList* const list = ImGui::GetForegroundDrawList();
    const float radius = 0.9F * ui.em();
    list->AddCircleFilled(*at, radius, to_u32(ui.ink().accent, 0.25));
    list->AddCircle(*at, radius, to_u32(ui.ink().accent), 0, 2.0F * ui.scale());
}

}  // namespace

void show_tour(Interface& ui) {
    const TourStep& step = kSteps.at(static_cast<std::size_t>(ui.tour_step));
    point_at(ui, step.at);
    const bool last = ui.tour_step + 1 == static_cast<int>(kSteps.size());
    ui.heading(fmt::format("{} of {}", ui.tour_step + 1, kSteps.size()));
    ui.remark(step.text, "tour.text");
    if (ui.button("tour.next", last ? "Begin" : "Next")) {
        ui.tour_step += last ? 0 : 1;
        ui.overlay = last ? Overlay::None : ui.overlay;
    }
    if (!last) {
        ui.beside();
        if (ui.button("tour.end", "Skip the tour")) {
            ui.overlay = Overlay::None;
        }
    }
}

}  // namespace headscope::viewer
