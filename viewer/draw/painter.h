// Paints a drawing into a draw list of Dear ImGui.
#pragma once

#include <imgui.h>

#include "paint/drawing.h"
#include "viewer/draw/fonts.h"

namespace headscope::viewer {

// The window position of a drawing's upper left corner, and the number of pixels per unit.
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

// Skips primitives outside the list's clip rectangle.
void paint(ImDrawList& list, const Drawing& drawing, const Placement& placement, Fonts& fonts);

}  // namespace headscope::viewer
