// Shared controls. Each registers itself with the probes.
#pragma once

#include <string>
#include <vector>

#include "viewer/ui/interface.h"

namespace headscope::viewer {

// A choice of one of several. True if it changed.
bool segmented(Interface& ui, const char* name, int& chosen, const std::vector<const char*>& labels);
template <class Enum>
bool segmented_enum(Interface& ui, const char* name, Enum& chosen, const std::vector<const char*>& labels) {
    int index = static_cast<int>(chosen);
    const bool changed = segmented(ui, name, index, labels);
    chosen = static_cast<Enum>(index);
    return changed;
}

// "-  Layer 5 of 6  +"
bool stepper(Interface& ui, const char* name, const std::string& label, int& value, int least, int most);

bool toggle(Interface& ui, const char* name, const char* label, bool& value, const char* tip = nullptr);
bool button(Interface& ui, const char* name, const char* label, const char* tip = nullptr, bool enabled = true);

// Controls that appear in two places.
void search_controls(Interface& ui);
void row_toggles(Interface& ui);
// Those of the Time panel.
void time_controls(Interface& ui);

// The heading of a group of controls.
void heading(Interface& ui, const char* text);
// Wrapped text in the faint colour.
void remark(Interface& ui, const std::string& text);
// A selectable row with any text; Dear ImGui would cut a label at "##".
bool text_row(const std::string& id, const std::string& text, bool on, float width);
// The same as a left-aligned button.
bool text_button(const std::string& id, const std::string& text, ImVec2 size);
// A line of large text as a button without a frame. `width` 0: the text's.
bool large_text_button(Interface& ui, const std::string& name, const std::string& text, Colour colour, float width);
// A choice of the machine's devices; "" is the default.
bool device_combo(Interface& ui, const char* name, std::string& device);

// Sets the tooltip of the last item.
void tip(const char* text);
// A tooltip beside the pointer, at most `width` text sizes wide.
void tooltip(const char* text, float width);

// A text field that fills the width. True if Enter was pressed.
bool text_field(Interface& ui, const char* name, const char* hint, std::string& text, bool focus);

}  // namespace headscope::viewer
