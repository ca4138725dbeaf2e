// The window's colours and sizes, derived from the ink of its drawings.
#pragma once

#include <imgui.h>

#include "paint/ink.h"

namespace headscope::viewer {

ImVec4 to_vec4(Colour colour, float alpha = 1.0F);
ImU32 to_u32(Colour colour, double alpha = 1.0);

// Resets Dear ImGui's style. `scale` as in Fonts::build.
void apply_theme(const Ink& ink, float scale);

}  // namespace headscope::viewer
