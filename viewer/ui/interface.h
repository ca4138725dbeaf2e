// The desktop program: the window, what it shows, and what keys and pointer do to it.
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

// What is open besides the panels.
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
    PanelPictures pictures = {};    // kept from frame to frame
    std::string typed_text = {};    // the sentence as it is in its field
    std::string typed_target = {};  // the translation, while it is edited
    bool editing_target = false;
    bool focus_sentence = false;
    bool focus_target = false;
    bool typing = false;     // the keyboard belongs to a text field
    bool escaped = false;    // Escape was pressed for this frame
    std::string query = {};  // of the command palette
    int palette_row = 0;
    float pages = 0.0F;     // the panel or the help shall scroll by
    int palette_steps = 0;  // up and down in it, since the last frame
    std::string path = {};  // in file dialogs
    std::string typed_device = {};
    std::string typed_other_model = {};
    std::string typed_other_device = {};
    std::string typed_other_step = {};
    std::future<std::vector<DeviceInfo>> devices = {};  // looked for beside the window: drivers can take a second
    std::vector<DeviceInfo> device_list = {};
    int png_scale = 3;     // of exports
    bool playing = false;  // the steps of the decoding, one after the other
    History::Clock::time_point played{};
    int docked_frames = 0;                   // that were drawn, where panels are windows
    PanelId docked_panel = PanelId::Figure;  // whose window has the focus, where panels are windows

    const Ink& ink() const { return session.settings().dark ? kDarkInk : kLightInk; }
    float scale() const { return window.content_scale() * static_cast<float>(session.settings().scale); }
    float em() const { return fonts.text_size(); }
    ViewState& state() { return session.state(); }
    void show(Overlay which) {
        overlay = which;
        overlay_opened = true;
    }
};

// Parts of the window, each in a file of its own. Called between ImGui::NewFrame() and ImGui::Render().
void show_shell(Interface& ui);
void show_sentence_bar(Interface& ui);
void show_status_bar(Interface& ui);
// The translation becomes a field with what the model wrote, or was told, in it.
void start_editing(Interface& ui);
void show_panel(Interface& ui, PanelId panel);
void show_controls(Interface& ui);
void show_overlays(Interface& ui);

// All that can be done, with its keys.
void add_commands(Interface& ui);
void add_view_commands(Interface& ui);

}  // namespace headscope::viewer
