// Commands of the program as a whole.
#include <algorithm>

#include <fmt/format.h>

#include "model/family.h"
#include "viewer/session/wording.h"
#include "viewer/ui/interface.h"

namespace headscope::viewer {

namespace {

void toggle_overlay(Interface& ui, Overlay which) {
    if (ui.overlay == which) {
        ui.overlay = Overlay::None;
    } else {
        ui.show(which);
    }
}

void scale_by(Interface& ui, double factor) {
    double& scale = ui.session.settings().scale;
    scale = factor == 0.0 ? 1.0 : std::clamp(scale * factor, kSmallestScale, kLargestScale);
    ui.window.request_fonts();
}

void zoom_by(Interface& ui, float factor) {
    CanvasMemory& memory = ui.canvases[static_cast<std::size_t>(ui.state().panel)];
    memory.zoom = factor == 0.0F ? 0.0F : std::clamp(memory.shown * factor, kSmallestZoom, kLargestZoom);
}

// Closes the open dialog or text field; if there is none, clears the choice of words.
void step_back(Interface& ui) {
    if (ui.overlay != Overlay::None) {
        ui.overlay = Overlay::None;
    } else if (ui.typing) {
        // Dear ImGui itself leaves the text field.
    } else if (ui.editing_target) {
        ui.state().target.reset();
        ui.editing_target = false;
    } else {
        ui.state().word = -1;
        ui.state().key = -1;
        if (traits(family_of(ui.session.scene())).fills_masks) {
            ui.state().step = -1;  // the mask
        }
    }
}

}  // namespace

void add_commands(Interface& ui) {
    Interface* at = &ui;
    Commands& commands = ui.commands;
    const auto add = [&](const char* id, const char* title, const char* keys, bool typing, std::function<void()> run) {
        commands.add({id, "Program", title, keys, typing, std::move(run)});
    };
    add("palette", "Find a command", "Ctrl+P Ctrl+Shift+P", true, [at] { toggle_overlay(*at, Overlay::Palette); });
    add("help", "Show all keys", "F1", true, [at] { toggle_overlay(*at, Overlay::Help); });
    add("open", "Open a model or a training, choose a device", "Ctrl+O", true,
        [at] { toggle_overlay(*at, Overlay::Models); });
    add("export", "Save this panel as SVG, PNG or JSON", "Ctrl+E", true,
        [at] { toggle_overlay(*at, Overlay::Export); });
    add("view.save", "Save this view as a file", "Ctrl+S", true, [at] { toggle_overlay(*at, Overlay::SaveView); });
    add("view.open", "Open a saved view", "Ctrl+Shift+O", true, [at] { toggle_overlay(*at, Overlay::OpenView); });
    add("settings", "Settings", "Ctrl+Comma", true, [at] { toggle_overlay(*at, Overlay::Settings); });
    add("about", "About Headscope", "", true, [at] { toggle_overlay(*at, Overlay::About); });
    add("undo", "Undo", "Ctrl+Z", false, [at] { at->session.undo(); });
    add("redo", "Redo", "Ctrl+Y Ctrl+Shift+Z", false, [at] { at->session.redo(); });
    const Wording& words = wording(ui.session.scene());
    add("sentence", words.edit_input, "Ctrl+L Slash", true, [at] { at->focus_sentence = true; });
    if (words.edit_output != nullptr) {
        add("target", words.edit_output, "Ctrl+T", true, [at] { start_editing(*at); });
    }
    add("leave", "Leave the text field", "Tab", true, [at] { at->leave_field = true; });
    add("back", "Close, or clear the choice of words", "Escape", true, [at] { step_back(*at); });
    add("dark", "Switch between light and dark", "Ctrl+D", true, [at] {
        at->session.settings().dark = !at->session.settings().dark;
        at->window.request_fonts();
    });
    add("larger", "Larger text", "Ctrl+Plus", true, [at] { scale_by(*at, 1.1); });
    add("smaller", "Smaller text", "Ctrl+Minus", true, [at] { scale_by(*at, 1.0 / 1.1); });
    add("normal", "Reset the text size", "Ctrl+0", true, [at] { scale_by(*at, 0.0); });
    add("fullscreen", "Full screen", "F11", true, [at] { at->window.toggle_fullscreen(); });
    add("zoom.in", "Zoom into the drawing", "Plus", false, [at] { zoom_by(*at, 1.2F); });
    add("zoom.out", "Zoom out", "Minus", false, [at] { zoom_by(*at, 1.0F / 1.2F); });
    add("zoom.normal", "Reset the zoom", "0", false, [at] { zoom_by(*at, 0.0F); });
    add("page.down", "Scroll down", "PageDown", false, [at] { at->pages += 1.0F; });
    add("page.up", "Scroll up", "PageUp", false, [at] { at->pages -= 1.0F; });
    add("quit", "Quit", "Ctrl+Q", true, [at] { at->window.request_close(); });
    for (std::size_t example = 0; example < words.examples.size(); ++example) {
        commands.add({fmt::format("example.{}", example), "Examples", words.examples[example], "", true,
                      [at, text = words.examples[example]] { new_sentence(at->state(), text); }});
    }
}

}  // namespace headscope::viewer
