// An interactive view of a drawing: scroll, zoom, point and click.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "paint/hit.h"
#include "viewer/draw/fonts.h"
#include "viewer/panels/controls.h"
#include "viewer/ui/probes.h"
#include "viewer/ui/widgets.h"

namespace headscope::viewer {

// The state of a canvas between frames.
struct CanvasMemory {
    float zoom = 0.0F;   // 0: fit, see CanvasOptions
    float shown = 1.0F;  // the zoom of the last frame
};

struct CanvasOptions {
    RoleSet roles = RoleSet::all_but({Role::Background});  // what responds to the pointer
    // Without zoom, the drawing is scaled to fit within these bounds; if that is impossible, to fit the width.
    float least_fit = 0.7F;
    float most_fit = 1.8F;
    bool fit_height = true;   // false: keep the scale of a drawing that grows downwards
    bool follow_end = false;  // stay at the end of a drawing that grows, unless the user has scrolled away
    float below = 0.0F;       // room to leave below the canvas, in pixels
    float pages = 0.0F;       // pages to scroll down; negative: up
    // Marks where nothing was drawn, such as a cell that is too faint.
    std::function<std::optional<Mark>(Point)> elsewhere = {};
    // The tooltip of a mark; default: its tip.
    std::function<std::string(const Mark&)> tip = {};
    // Bars below it.
    std::function<std::vector<TipBar>(const Mark&)> bars = {};
};

// The current zoom of a canvas.
float zoom_of(const CanvasMemory& memory, const Drawing& drawing, ImVec2 room, const CanvasOptions& options);

constexpr float kSmallestZoom = 0.2F;
constexpr float kLargestZoom = 8.0F;

// Fills the available space. Ctrl+wheel zooms about the pointer, the middle button drags. `drawing` must live until the
// next frame.
PanelEvents show_canvas(const std::string& name, const Drawing& drawing, CanvasMemory& memory, Fonts& fonts,
                        Probes& probes, const CanvasOptions& options);

}  // namespace headscope::viewer
