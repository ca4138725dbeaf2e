// Controls that panels do not use. Each registers itself with the probes.
#pragma once

#include <string>
#include <vector>

#include <imgui.h>

#include "paint/palette.h"

namespace headscope::viewer {

struct Interface;

// A selectable row with any text; Dear ImGui would cut a label at "##".
bool text_row(const std::string& id, const std::string& text, bool on, float width);
// The same as a left-aligned button.
bool text_button(const std::string& id, const std::string& text, ImVec2 size);
// A line of large text as a button without a frame. `width` 0: the text's.
bool large_text_button(Interface& ui, const std::string& name, const std::string& text, Colour colour, float width);
// A choice of the machine's devices; "" is the default.
bool device_combo(Interface& ui, const char* name, std::string& device);

// Sets the tooltip of the last item, also of a disabled one; none if the text is empty.
void tip(const std::string& text);
// A labelled length below the text of a tooltip.
struct TipBar {
    std::string label;
    double value = 0.0;  // 0 to 1
    Colour colour;
};
// A tooltip beside the pointer, at most `width` text sizes wide.
void tooltip(const std::string& text, float width, const std::vector<TipBar>& bars, ImVec2 pointer);

// A text field that fills the width. True if Enter was pressed.
bool text_field(Interface& ui, const char* name, const char* hint, std::string& text, bool focus);

}  // namespace headscope::viewer
