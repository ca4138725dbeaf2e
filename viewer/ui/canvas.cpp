#include "viewer/ui/canvas.h"

#include <algorithm>
#include <cmath>

#include "viewer/ui/interface.h"
#include "viewer/ui/widgets.h"

namespace headscope::viewer {

namespace {

constexpr float kTolerance = 3.0F;  // pixels, for pointing at lines
constexpr float kZoomStep = 1.15F;
constexpr float kTipWidth = 26.0F;  // in text sizes

void zoom_about_pointer(CanvasMemory& memory, const Placement& place) {
    const float wheel = ImGui::GetIO().MouseWheel;
    if (wheel == 0.0F || !ImGui::GetIO().KeyCtrl) {
        return;
    }
    const float before = place.zoom;
    memory.zoom = std::clamp(before * std::pow(kZoomStep, wheel), kSmallestZoom, kLargestZoom);
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    const float grown = memory.zoom / before - 1.0F;
    ImGui::SetScrollX(ImGui::GetScrollX() + (mouse.x - place.origin.x) * grown);
    ImGui::SetScrollY(ImGui::GetScrollY() + (mouse.y - place.origin.y) * grown);
}

void drag_with_middle_button() {
    if (ImGui::IsMouseDragging(ImGuiMouseButton_Middle, 0.0F)) {
        ImGui::SetScrollX(ImGui::GetScrollX() - ImGui::GetIO().MouseDelta.x);
        ImGui::SetScrollY(ImGui::GetScrollY() - ImGui::GetIO().MouseDelta.y);
        ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeAll);
    }
}

}  // namespace

float zoom_of(const CanvasMemory& memory, const Drawing& drawing, ImVec2 room, const CanvasOptions& options) {
    if (memory.zoom > 0.0F || drawing.width <= 0.0 || drawing.height <= 0.0) {
        return memory.zoom > 0.0F ? memory.zoom : 1.0F;
    }
    const float across = room.x / static_cast<float>(drawing.width);
    const float down = room.y / static_cast<float>(drawing.height);
    const float whole = options.fit_height ? std::min(across, down) : across;
    if (whole >= options.least_fit) {
        return std::min(whole, options.most_fit);
    }
    return across >= options.least_fit ? std::min(across, 1.0F) : 1.0F;  // if it must scroll anyway, keep it readable
}

PanelEvents show_canvas(const std::string& name, const Drawing& drawing, CanvasMemory& memory, Fonts& fonts,
                        Probes& probes, const CanvasOptions& options) {
    PanelEvents events;
    ImGui::BeginChild(name.c_str(), ImVec2(0.0F, -options.below), false, ImGuiWindowFlags_HorizontalScrollbar);
    const ImVec2 room = ImGui::GetContentRegionAvail();
    const float zoom = zoom_of(memory, drawing, room, options);
    memory.shown = zoom;
    const ImVec2 size(std::floor(static_cast<float>(drawing.width) * zoom),
                      std::floor(static_cast<float>(drawing.height) * zoom));
    Placement place{ImGui::GetCursorScreenPos(), zoom};
    // Centres a drawing that is smaller than the canvas, slightly above the middle, unless it grows.
    place.origin.x += std::floor(std::max(0.0F, 0.5F * (room.x - size.x)));
    place.origin.y += options.follow_end ? 0.0F : std::floor(std::max(0.0F, 0.4F * (room.y - size.y)));
    ImGui::InvisibleButton("drawing", ImVec2(std::max({size.x, room.x, 1.0F}), std::max({size.y, room.y, 1.0F})));
    const bool at_end = ImGui::GetScrollY() >= ImGui::GetScrollMaxY() - 1.0F;
    if (options.follow_end && at_end) {
        ImGui::SetScrollY(size.y);  // at most to the end, which Dear ImGui knows in the next frame
    }
    const bool over = ImGui::IsItemHovered();
    events.clicked = ImGui::IsItemClicked(ImGuiMouseButton_Left);
    events.double_clicked = over && ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left);
    paint(*ImGui::GetWindowDrawList(), drawing, place, fonts);
    probes.drawing(name, drawing, place);
    if (options.pages != 0.0F) {
        ImGui::SetScrollY(ImGui::GetScrollY() + 0.8F * options.pages * ImGui::GetWindowHeight());
    }
    if (over) {
        zoom_about_pointer(memory, place);
        drag_with_middle_button();
        events.pointer = place.to_drawing(ImGui::GetIO().MousePos);
        const auto found = hit(drawing, *events.pointer, static_cast<double>(kTolerance / zoom), options.roles);
        if (found.has_value()) {
            events.hovered = drawing.primitives[*found].mark;
        } else if (options.elsewhere) {
            events.hovered = options.elsewhere(*events.pointer);
        }
        if (events.hovered.has_value()) {
            const std::string text = options.tip ? options.tip(*events.hovered) : events.hovered->tip;
            if (!text.empty()) {
                const auto bars = options.bars ? options.bars(*events.hovered) : std::vector<TipBar>{};
                fonts.need(text);
                std::ranges::for_each(bars, [&](const TipBar& bar) { fonts.need(bar.label); });
                tooltip(text, kTipWidth, bars, ImGui::GetIO().MousePos);
                probes.value(name + ".tip", text);
            }
        }
    }
    ImGui::EndChild();
    return events;
}

}  // namespace headscope::viewer
