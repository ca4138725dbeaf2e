// A drawing that one can scroll, zoom into, point at and click.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "paint/hit.h"
#include "viewer/draw/fonts.h"
#include "viewer/ui/probes.h"

namespace headscope::viewer {

// What a canvas remembers from frame to frame.
struct CanvasMemory {
    float zoom = 0.0F;   // 0: as large as fits, see CanvasOptions
    float shown = 1.0F;  // what it was drawn at last
};

struct CanvasEvents {
    std::optional<Mark> hovered;   // what stands under the pointer
    std::optional<Point> pointer;  // in the drawing's coordinates
    bool clicked = false;
    bool double_clicked = false;
};

struct CanvasOptions {
    RoleSet roles = RoleSet::all_but({Role::Background});  // what can be pointed at
    // A drawing that was not zoomed fills its room within these bounds; where it cannot, its width fits if it can.
    float least_fit = 0.7F;
    float most_fit = 1.8F;
    bool fit_height = true;  // false: a drawing that grows downwards does not change its scale
    float pages = 0.0F;      // to scroll down by; negative: up
    // What stands where nothing was drawn, such as a cell too faint to be.
    std::function<std::optional<Mark>(Point)> elsewhere = {};
    // What hovering says; without it the mark's own tip.
    std::function<std::string(const Mark&)> tip = {};
};

// What a canvas is drawn at now.
float zoom_of(const CanvasMemory& memory, const Drawing& drawing, ImVec2 room, const CanvasOptions& options);

constexpr float kSmallestZoom = 0.2F;
constexpr float kLargestZoom = 8.0F;

// Takes all the room there is. Ctrl and the wheel zoom about the pointer, the middle button drags. `drawing` lives
// until the next frame.
CanvasEvents show_canvas(const std::string& name, const Drawing& drawing, CanvasMemory& memory, const Fonts& fonts,
                         Probes& probes, const CanvasOptions& options);

}  // namespace headscope::viewer
