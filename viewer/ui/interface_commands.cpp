// Commands of the program as a whole.
#include <algorithm>

#include <fmt/format.h>

#include "model/family.h"
#include "support/check.h"
#include "viewer/session/fits.h"
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

// Closes the open menu, dialog or text field; if there is none, clears the choice of words.
void step_back(Interface& ui) {
    if (Focus::in_menu()) {
        ui.focus.close_menu();
    } else if (ui.overlay != Overlay::None) {
        ui.overlay = Overlay::None;
    } else if (ui.typing) {
        // Dear ImGui itself leaves the text field.
    } else if (ui.focus.on()) {
        ui.focus.leave();
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

void add_file_commands(Interface& ui) {
    Interface* at = &ui;
    const CommandGroup add(ui.commands, "File");
    add(
        "open", "Open\u2026", "Ctrl+O", true, [at] { toggle_overlay(*at, Overlay::Open); },
        "model training experiment saved view device file folder browse load");
    add(
        "view.save", "Save this view\u2026", "Ctrl+S", true, [at] { toggle_overlay(*at, Overlay::SaveView); },
        "file share store")
        .apart = true;
    add(
        "export", "Export this panel\u2026", "Ctrl+E", true, [at] { toggle_overlay(*at, Overlay::Export); },
        "save picture image screenshot svg png pdf html json tsv copy share print");
    add(
        "settings", "Settings\u2026", "Ctrl+Comma", true, [at] { toggle_overlay(*at, Overlay::Settings); },
        "preferences options theme colour color font text size")
        .apart = true;
    add(
        "quit", "Quit", "Ctrl+Q", true, [at] { at->window.request_close(); }, "exit close")
        .apart = true;
}

void add_edit_commands(Interface& ui) {
    Interface* at = &ui;
    const CommandGroup add(ui.commands, "Edit");
    add("undo", "Undo", "Ctrl+Z", false, [at] { at->session.undo(); }).why_not = [at] {
        return at->session.can_undo() ? "" : "There is nothing to undo.";
    };
    add("redo", "Redo", "Ctrl+Y Ctrl+Shift+Z", false, [at] { at->session.redo(); }).why_not = [at] {
        return at->session.can_redo() ? "" : "There is nothing to redo.";
    };
    const Wording& words = wording(ui.session.scene());
    add(
        "sentence", words.edit_input, "Ctrl+L Slash", true, [at] { at->focus_sentence = true; }, "text type")
        .apart = true;
    if (words.edit_output != nullptr) {
        add("target", words.edit_output, "Ctrl+T", true, [at] { start_editing(*at); }).why_not = [at] {
            return no_single_pass(at->session.scene());
        };
    }
    add("back", "Close, or clear the choice of words", "Escape", true, [at] { step_back(*at); }).apart = true;
}

void add_window_commands(Interface& ui) {
    Interface* at = &ui;
    const CommandGroup add(ui.commands, "View");
    add(
        "dark", "Switch between light and dark", "Ctrl+D", true,
        [at] {
            at->session.settings().theme = at->dark() ? Theme::Light : Theme::Dark;
            at->window.request_fonts();
        },
        "theme night colour color");
    add(
        "larger", "Larger text", "Ctrl+Plus", true, [at] { scale_by(*at, 1.1); }, "font size")
        .apart = true;
    add(
        "smaller", "Smaller text", "Ctrl+Minus", true, [at] { scale_by(*at, 1.0 / 1.1); }, "font size");
    add(
        "normal", "Reset the text size", "Ctrl+0", true, [at] { scale_by(*at, 0.0); }, "font");
    add("zoom.in", "Zoom into the drawing", "Plus", false, [at] { zoom_by(*at, 1.2F); }).apart = true;
    add("zoom.out", "Zoom out", "Minus", false, [at] { zoom_by(*at, 1.0F / 1.2F); });
    add("zoom.normal", "Reset the zoom", "0", false, [at] { zoom_by(*at, 0.0F); });
    add("page.down", "Scroll down", "PageDown", false, [at] { at->pages += 1.0F; });
    add("page.up", "Scroll up", "PageUp", false, [at] { at->pages -= 1.0F; });
    add(
        "side.bars", "Show or hide the side bars", "Ctrl+B", true, [at] { at->side_bars = !at->side_bars; },
        "controls navigation panel wide")
        .apart = true;
    add("fullscreen", "Full screen", "F11", true, [at] { at->window.toggle_fullscreen(); });
}

void add_keyboard_commands(Interface& ui) {
    Interface* at = &ui;
    const CommandGroup add(ui.commands, "Keyboard");
    add("focus.next", "Next control", "Tab", true, [at] { at->focus.step(1); });
    add("focus.before", "Previous control", "Shift+Tab", true, [at] { at->focus.step(-1); });
    add("focus.part", "Next part of the window", "F6", true, [at] { at->focus.step_part(1); });
    add("focus.part-before", "Previous part of the window", "Shift+F6", true, [at] { at->focus.step_part(-1); });
    add("focus.menu", "The menus", "F10", true, [at] { at->focus.move_to("menu.File"); });
}

void add_help_commands(Interface& ui) {
    Interface* at = &ui;
    const CommandGroup add(ui.commands, "Help");
    add(
        "palette", "Find a command\u2026", "Ctrl+P Ctrl+Shift+P", true, [at] { toggle_overlay(*at, Overlay::Palette); },
        "search");
    add(
        "help", "All keys", "F1", true, [at] { toggle_overlay(*at, Overlay::Help); }, "shortcuts keyboard");
    add(
        "explain", "What am I looking at?", "Shift+F1", true, [at] { toggle_overlay(*at, Overlay::Explained); },
        "help explain panel meaning");
    add(
        "tour", "Tour", "", true,
        [at] {
            at->tour_step = 0;
            toggle_overlay(*at, Overlay::Tour);
        },
        "introduction begin first steps");
    add(
        "glossary", "Glossary", "", true, [at] { toggle_overlay(*at, Overlay::Glossary); },
        "terms meaning explain query key head entropy");
    add(
        "about", "About Headscope", "", true, [at] { toggle_overlay(*at, Overlay::About); }, "version device")
        .apart = true;
    const std::vector<std::string>& examples = wording(ui.session.scene()).examples;
    for (std::size_t example = 0; example < examples.size(); ++example) {
        ui.commands.add({fmt::format("example.{}", example), "Examples", examples[example], "", true,
                         [at, text = examples[example]] { new_sentence(at->state(), text); }});
    }
    if (const std::optional<Opened>& model = ui.session.scene().main.model; model && !model->repeated.empty()) {
        ui.commands.add({"example.repeated", "Examples", "Random words twice, for induction", "", true,
                         [at, text = model->repeated] { new_sentence(at->state(), text); }});
    }
}

}  // namespace

void perform(Interface& ui, const Command& command) {
    if (const std::string why = why_disabled(command); !why.empty()) {
        ui.session.notify(why);
        return;
    }
    try {
        command.run();
    } catch (const Error& error) {
        ui.session.report_error(error.what());
    }
}

void press(Interface& ui, const Chord& chord) {
    if (take_key(ui, chord)) {
        return;
    }
    if (const Command* command = ui.commands.with_key(chord, ui.keyboard_taken()); command != nullptr) {
        perform(ui, *command);
    }
}

void add_commands(Interface& ui) {
    add_file_commands(ui);
    add_edit_commands(ui);
    add_window_commands(ui);
    add_keyboard_commands(ui);
    add_help_commands(ui);
}

}  // namespace headscope::viewer
