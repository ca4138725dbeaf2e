// The state of the desktop program's user interface.
#pragma once

#include <array>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "viewer/draw/fonts.h"
#include "viewer/panels/controls.h"
#include "viewer/panels/panel_drawing.h"
#include "viewer/session/edits.h"
#include "viewer/session/places.h"
#include "viewer/session/rows.h"
#include "viewer/session/session.h"
#include "viewer/ui/canvas.h"
#include "viewer/ui/commands.h"
#include "viewer/ui/focus.h"
#include "viewer/ui/probes.h"
#include "viewer/window/window.h"

namespace headscope::viewer {

// The dialog that is open over the panels.
enum class Overlay : std::uint8_t {
    None,
    Tour,
    Explained,
    Help,
    Glossary,
    Palette,
    About,
    Settings,
    Export,
    Open,
    SaveView
};

struct Interface final : Controls {
    Interface(Window& the_window, Session& the_session) : Controls(the_session), window(the_window) {
        probes.focus = &focus;
    }

    Window& window;
    Fonts fonts;
    Focus focus = {};
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
    bool typing = false;     // a text field has the focus
    bool escaped = false;    // Escape was pressed in this frame
    bool side_bars = true;   // shown beside the panel
    std::string query = {};  // of the command palette
    int palette_row = 0;
    float pages = 0.0F;                   // to scroll the panel
    int overlay_rows = 0;                 // to move in the palette or the help since the last frame
    int overlay_pages = 0;                // likewise
    std::string path = {};                // in file dialogs
    bool focus_path = false;              // the dialog's field gets the keyboard
    bool opens_path = false;              // the Open dialog waits for the model
    std::vector<FilePlace> bundled = {};  // read when the dialog opens
    std::vector<FilePlace> recent = {};   // read when the dialog or the menu opens
    std::string folder = {};              // that the dialog lists
    std::vector<FilePlace> places = {};   // in that folder
    std::string saved_to = {};            // the folder of the last export or view
    std::string typed_device = {};
    std::string focus_entry = {};                       // the entry that gets the keyboard, by its name
    std::map<std::string, std::string> typed = {};      // in fields of panels, by their names
    std::future<std::vector<DeviceInfo>> devices = {};  // enumerated in the background: drivers can take a second
    std::vector<DeviceInfo> device_list = {};
    std::future<bool> system_theme = {};  // asked for in the background
    bool system_dark = false;
    int png_scale = 3;  // of exports
    int tour_step = 0;
    History::Clock::time_point played{};

    bool dark() const {
        const Theme theme = session.settings().theme;
        return theme == Theme::Dark || (theme == Theme::System && system_dark);
    }
    const Ink& ink() const { return dark() ? kDarkInk : kLightInk; }
    float scale() const { return window.content_scale() * static_cast<float>(session.settings().scale); }
    float em() const override { return fonts.text_size(); }
    void show(Overlay which) {
        overlay = which;
        overlay_opened = true;
        overlay_rows = overlay_pages = 0;
    }
    // Whether a text field, a control, a menu or a dialog has the keyboard: then only commands that may interrupt
    // typing have keys.
    bool keyboard_taken() const { return typing || focus.on() || Focus::in_menu() || overlay != Overlay::None; }

    void heading(const std::string& text) override;
    void remark(const std::string& text, const std::string& name = {}) override;
    void line(const std::string& name, const std::string& text) override;
    bool button(const std::string& name, const std::string& label, const std::string& tip = {},
                bool enabled = true) override;
    bool small_button(const std::string& name, const std::string& label) override;
    bool segmented(const char* name, int& chosen, const std::vector<const char*>& labels,
                   const std::string& tip = {}) override;
    bool stepper(const char* name, const std::string& label, int& value, int least, int most) override;
    bool toggle(const char* name, const std::string& label, bool& value, const std::string& tip = {}) override;
    bool slider(const char* name, double& value, double least, double most, const std::string& label) override;
    bool scrubber(const char* name, int& value, int least, int most) override;
    std::string& field(const char* name, const char* hint) override;
    void edit(const char* name, const char* hint, std::string& text) override;
    Entry entry(const char* name, const char* hint, const char* action, bool enabled) override;
    std::string& device_choice(const char* name) override;
    void drop_down(const char* name, std::string& chosen, const std::vector<Offer>& offers) override;
    HeadClick heads(const std::vector<HeadSwatch>& swatches) override;
    void beside() override;
    void run(const char* command) override;
    void copy(const std::string& text) override;
    void point_out() override;
};

// The parts of the window. Call between ImGui::NewFrame() and ImGui::Render().
void show_shell(Interface& ui);
void show_menu_bar(Interface& ui);
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
// Whether the open dialog moves in its list by this key.
bool take_key(Interface& ui, const Chord& chord);
// The contents of dialogs.
void show_open(Interface& ui);
void show_export(Interface& ui);
void show_save_view(Interface& ui);
void show_tour(Interface& ui);

// What a command cannot do is said in the window.
void perform(Interface& ui, const Command& command);
// Runs the command of a key, or moves in the open dialog.
void press(Interface& ui, const Chord& chord);

// Register all commands with their keys, for the family of the open model.
void add_commands(Interface& ui);
void add_view_commands(Interface& ui);
void add_model_commands(Interface& ui);  // the part of them that is not of attention

}  // namespace headscope::viewer
