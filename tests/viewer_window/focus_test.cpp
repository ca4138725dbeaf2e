// The keyboard reaches every control.
#include <chrono>
#include <set>
#include <string>
#include <thread>

#include <catch2/catch.hpp>

#include "display.h"
#include "tests/house/open_options.h"
#include "viewer/draw/theme.h"
#include "viewer/ui/interface.h"

using namespace headscope;
using namespace headscope::viewer;

namespace {

// The window without the program around it.
class Shown {
public:
    Shown()
        : window_({.width = 1360, .height = 860, .settings = environment_options().settings, .scripted = true}),
          session_({.model = HEADSCOPE_SOURCE_DIR "/assets/models/en-de",
                    .device = "cpu",
                    .view = {.state = {.text = "The cat sleeps because it is tired."}}},
                   Window::wake),
          ui(window_, session_) {
        add_commands(ui);
        add_view_commands(ui);
        window_.on_fonts([this] {
            ui.fonts.build(ui.scale());
            ImGui::GetStyle() = style_of(ui.ink(), ui.scale());
        });
    }

    void frames(int count) {
        for (int i = 0; i < count; ++i) {
            window_.poll();
            session_.update(History::Clock::now());
            window_.frame([this] {
                ui.probes.clear();
                show_shell(ui);
            });
        }
    }
    void settle() {
        frames(3);
        while (session_.busy()) {
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
            frames(1);
        }
        frames(3);
    }
    void press(const char* chord) {
        const Chord keys = parse_chord(chord);
        for (const bool down : {true, false}) {
            window_.play({.kind = InputEvent::Kind::Key, .code = keys.key, .down = down, .modifiers = keys.modifiers});
            for (const Chord& one : window_.take_chords()) {
                ui.commands.press(one, ui.typing || ui.focus.on());
            }
            frames(2);
        }
    }

private:
    Window window_;
    Session session_;

public:
    Interface ui;
};

std::set<std::string> names_of(const Focus& focus) {
    std::set<std::string> names;
    for (const Focus::Control& control : focus.controls()) {
        names.insert(control.name);
    }
    return names;
}

// The controls that get the keyboard by so many steps, each with a ring.
std::set<std::string> visited(Shown& shown, std::size_t steps) {
    std::set<std::string> names;
    for (std::size_t step = 0; step < steps; ++step) {
        shown.ui.commands.run("focus.next");
        shown.frames(1);
        CHECK((step == 0 || ImGui::GetIO().NavVisible));  // which Dear ImGui says a frame later
        names.insert(shown.ui.focus.name());
    }
    return names;
}

}  // namespace

TEST_CASE("Tab visits every control of every panel, with a ring around it", "[window]") {
    if (!test::display()) {
        return;
    }
    Shown shown;
    shown.settle();
    for (int index = 0; index < kPanels; ++index) {
        const auto panel = static_cast<PanelId>(index);
        if (!offered(shown.ui.session.scene(), panel)) {
            continue;
        }
        shown.ui.state().panel = panel;
        shown.settle();
        INFO(name_of(panel));
        const std::set<std::string> all = names_of(shown.ui.focus);
        CHECK(all.contains("menu.File"));
        CHECK(all.contains("source"));
        CHECK(all.contains("whereabouts"));
        CHECK(visited(shown, shown.ui.focus.controls().size()) == all);
        shown.press("Escape");
        CHECK_FALSE(shown.ui.focus.on());
    }
}

TEST_CASE("Space and Enter press what has the keyboard, and dialogs keep it", "[window]") {
    if (!test::display()) {
        return;
    }
    Shown shown;
    shown.settle();
    Focus& focus = shown.ui.focus;
    const bool joined = shown.ui.state().join_words;
    for (const char* key : {"Space", "Enter"}) {
        focus.move_to("pieces");
        shown.frames(2);
        const bool before = shown.ui.state().join_words;
        shown.press(key);
        INFO(key);
        CHECK(shown.ui.state().join_words != before);
    }
    CHECK(shown.ui.state().join_words == joined);
    focus.move_to("layer.more");
    shown.frames(2);
    shown.press("F6");
    CHECK(focus.name() == "whereabouts");  // the status bar
    shown.press("Shift+F6");
    shown.press("Shift+F6");
    CHECK(focus.name() == "panel.figure");  // the navigation
    shown.press("Ctrl+O");
    shown.frames(3);
    CHECK(names_of(focus).contains("model.path"));
    CHECK_FALSE(names_of(focus).contains("source"));
    shown.press("Escape");
    shown.press("Escape");
    shown.press("F10");
    CHECK(focus.name() == "menu.File");
    shown.press("Space");
    CHECK(names_of(focus).contains("menu.export"));
    CHECK_FALSE(names_of(focus).contains("source"));
}
