// The few controls that Dear ImGui lacks or that all panels share. Each tells the probes where it stands.
#pragma once

#include <string>
#include <vector>

#include "viewer/ui/interface.h"

namespace headscope::viewer {

// One of several, side by side. True when another was chosen.
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

// Settings that stand in two places, see controls.cpp.
void search_controls(Interface& ui);
void row_toggles(Interface& ui);

// A heading of a group of controls.
void heading(Interface& ui, const char* text);
// A remark in the faint colour, wrapped.
void remark(Interface& ui, const std::string& text);
// A row that can be chosen, whatever its text holds: Dear ImGui would take "##" in it for an end.
bool text_row(const std::string& id, const std::string& text, bool on, float width);
// The same as a button whose text begins at its left.
bool text_button(const std::string& id, const std::string& text, ImVec2 size);
// One of the machine's devices; "" is the default.
bool device_combo(Interface& ui, const char* name, std::string& device);

// What hovering over the last item says.
void tip(const char* text);
// A tooltip beside the pointer, at most so many times the font's size wide.
void tooltip(const char* text, float width);

// A text field that fills the width. True when Enter was pressed in it.
bool text_field(Interface& ui, const char* name, const char* hint, std::string& text, bool focus);

}  // namespace headscope::viewer
