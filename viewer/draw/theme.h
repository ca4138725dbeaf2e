// The window's colours and sizes, derived from the ink of its drawings.
#pragma once

#include <imgui.h>

#include "paint/ink.h"

namespace headscope::viewer {

ImVec4 to_vec4(Colour colour, float alpha = 1.0F);
ImU32 to_u32(Colour colour, double alpha = 1.0);

// A style of Dear ImGui. `scale` as in Fonts::build.
ImGuiStyle style_of(const Ink& ink, float scale);

}  // namespace headscope::viewer
