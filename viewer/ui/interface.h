// The state of the desktop program's user interface.
#pragma once

#include <array>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "viewer/draw/fonts.h"
#include "viewer/panels/panel_drawing.h"
#include "viewer/session/edits.h"
#include "viewer/session/rows.h"
#include "viewer/session/session.h"
#include "viewer/ui/canvas.h"
#include "viewer/ui/commands.h"
#include "viewer/ui/probes.h"
#include "viewer/window/window.h"

namespace headscope::viewer {

// The dialog that is open over the panels.
enum class Overlay : std::uint8_t { None, Help, Palette, About, Settings, Export, Models, SaveView, OpenView };

struct Interface {
    Window& window;
    Session& session;
    Fonts fonts = {};
    Probes probes = {};
    Commands commands = {};
    Overlay overlay = Overlay::None;
    bool overlay_opened = false;  // in this frame
    std::array<CanvasMemory, kPanels> canvases = {};
    PanelPictures pictures = {};    // cached between frames
    std::string typed_text = {};    // the content of the source field
    std::string typed_target = {};  // the translation while it is edited
    bool editing_target = false;
    bool focus_sentence = false;
    bool focus_target = false;
    bool leave_field = false;  // the text field with the focus
    bool typing = false;       // a text field has the focus
    bool escaped = false;      // Escape was pressed in this frame
    std::string query = {};    // of the command palette
    int palette_row = 0;
    float pages = 0.0F;     // pages to scroll the panel or the help
    int palette_steps = 0;  // rows to move in the palette since the last frame
    std::string path = {};  // in file dialogs
    std::string typed_device = {};
    std::string typed_other_model = {};
    std::string typed_other_device = {};
    std::string typed_other_step = {};
    std::future<std::vector<DeviceInfo>> devices = {};  // enumerated in the background: drivers can take a second
    std::vector<DeviceInfo> device_list = {};
    int png_scale = 3;     // of exports
    bool playing = false;  // animating the decoding steps
    History::Clock::time_point played{};
    int docked_frames = 0;                   // frames drawn with docked panels
    PanelId docked_panel = PanelId::Figure;  // the docked panel with the focus

    const Ink& ink() const { return session.settings().dark ? kDarkInk : kLightInk; }
    float scale() const { return window.content_scale() * static_cast<float>(session.settings().scale); }
    float em() const { return fonts.text_size(); }
    ViewState& state() { return session.state(); }
    void show(Overlay which) {
        overlay = which;
        overlay_opened = true;
    }
};

// The parts of the window. Call between ImGui::NewFrame() and ImGui::Render().
void show_shell(Interface& ui);
void show_sentence_bar(Interface& ui);
// Below the sentence bar, if there is something to say of the text.
void show_text_notes(Interface& ui);
// The words of a masked language model's text, within this width.
void show_words(Interface& ui, float room);
void show_status_bar(Interface& ui);
float status_height(const Interface& ui);
// Turns the translation into a text field.
void start_editing(Interface& ui);
void show_panel(Interface& ui, PanelId panel);
void show_controls(Interface& ui);
void show_overlays(Interface& ui);

// Register all commands with their keys, for the family of the open model.
void add_commands(Interface& ui);
void add_view_commands(Interface& ui);

}  // namespace headscope::viewer
