// A drawing into Dear ImGui's list of triangles.
#pragma once

#include <imgui.h>

#include "paint/drawing.h"
#include "viewer/draw/fonts.h"

namespace headscope::viewer {

// Where a drawing's upper left stands in the window, and how many pixels one of its units takes.
struct Placement {
    ImVec2 origin;
    float zoom = 1.0F;
    ImVec2 to_window(double x, double y) const {
        return ImVec2(origin.x + static_cast<float>(x) * zoom, origin.y + static_cast<float>(y) * zoom);
    }
    Point to_drawing(ImVec2 at) const {
        return {static_cast<double>((at.x - origin.x) / zoom), static_cast<double>((at.y - origin.y) / zoom)};
    }
};

// Only what touches the list's clip rectangle is put down.
void paint(ImDrawList& list, const Drawing& drawing, const Placement& placement, const Fonts& fonts);

}  // namespace headscope::viewer
