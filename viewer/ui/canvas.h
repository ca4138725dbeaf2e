// A drawing that one can scroll, zoom into, point at and click.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "drawing/hit.h"
#include "viewer/draw/fonts.h"
#include "viewer/ui/probes.h"

namespace headscope::viewer {

// What a canvas remembers from frame to frame.
struct CanvasMemory {
    float zoom = 1.0F;
};

struct CanvasEvents {
    std::optional<Mark> hovered;   // what stands under the pointer
    std::optional<Point> pointer;  // in the drawing's coordinates
    bool clicked = false;
    bool double_clicked = false;
    bool right_clicked = false;
};

struct CanvasOptions {
    RoleSet roles = RoleSet::all_but({Role::Background});  // what can be pointed at
    bool centre = true;                                    // a drawing smaller than its room stands in the middle
    // What hovering says; without it the mark's own tip.
    std::function<std::string(const Mark&)> tip = {};
};

constexpr float kSmallestZoom = 0.2F;
constexpr float kLargestZoom = 8.0F;

// Takes all the room there is. Ctrl and the wheel zoom about the pointer, the middle button drags. `drawing` lives
// until the next frame.
CanvasEvents show_canvas(const std::string& name, const Drawing& drawing, CanvasMemory& memory, const Fonts& fonts,
                         Probes& probes, const CanvasOptions& options);

}  // namespace headscope::viewer
