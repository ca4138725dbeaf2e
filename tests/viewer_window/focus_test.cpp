// The keyboard reaches every control.
#include <chrono>
#include <cmath>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <thread>

#include <catch2/catch.hpp>

#include "display.h"
#include "tests/house/open_options.h"
#include "tests/io/temporary_folder.h"
#include "viewer/draw/theme.h"
#include "viewer/ui/interface.h"

using namespace headscope;
using namespace headscope::viewer;
using Catch::Matchers::Contains;

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
    void point(const std::string& name) {
        const std::optional<ImVec2> place = ui.probes.find(name);
        REQUIRE(place.has_value());
        window_.play({.kind = InputEvent::Kind::Move, .x = std::floor(place->x), .y = std::floor(place->y)});
        frames(3);
    }
    void click(const std::string& name) {
        point(name);
        for (const bool down : {true, false}) {
            window_.play({.kind = InputEvent::Kind::Button, .code = 0, .down = down});
            frames(2);
        }
    }
    void type(const std::string& text) {
        window_.play({.kind = InputEvent::Kind::Text, .text = text});
        frames(3);
    }
    bool shows(const std::string& name) { return ui.probes.value_of(name).has_value(); }
    void press(const char* chord) {
        const Chord keys = parse_chord(chord);
        for (const bool down : {true, false}) {
            window_.play({.kind = InputEvent::Kind::Key, .code = keys.key, .down = down, .modifiers = keys.modifiers});
            for (const Chord& one : window_.take_chords()) {
                headscope::viewer::press(ui, one);
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

TEST_CASE("Escape closes one menu at a time", "[window]") {
    if (!test::display()) {
        return;
    }
    Shown shown;
    shown.settle();
    const auto open = [&](const char* menu) {
        shown.ui.focus.move_to(menu);
        shown.frames(2);
        shown.press("Space");
        shown.frames(2);
    };
    open("menu.Help");
    REQUIRE(shown.shows("menu.help"));
    open("menu.Examples");
    REQUIRE(shown.shows("menu.example.0"));
    shown.press("Escape");
    shown.frames(5);
    CHECK_FALSE(shown.shows("menu.example.0"));
    CHECK(shown.shows("menu.help"));
    shown.press("Escape");
    shown.frames(5);
    CHECK_FALSE(shown.shows("menu.help"));
    CHECK_FALSE(Focus::in_menu());
}

TEST_CASE("Menus and the help keep the keyboard", "[window]") {
    if (!test::display()) {
        return;
    }
    Shown shown;
    shown.settle();
    const int layer = shown.ui.state().layer;
    shown.click("menu.File");
    shown.press("Down");
    CHECK(shown.ui.state().layer == layer);
    shown.press("Escape");
    shown.press("F1");
    CHECK(shown.ui.probes.value_of("help.scroll") == "0");
    for (const char* key : {"Down", "PageDown"}) {
        const std::optional<std::string> before = shown.ui.probes.value_of("help.scroll");
        shown.press(key);
        CHECK(shown.ui.probes.value_of("help.scroll") != before);
    }
    shown.press("Tab");
    CHECK(shown.ui.focus.name().empty());  // none of what is below the help
    CHECK(shown.ui.state().layer == layer);
    shown.press("Escape");
    CHECK_FALSE(shown.shows("help.scroll"));
    shown.press("Down");
    CHECK(shown.ui.state().layer == layer - 1);
}

TEST_CASE("A control that is gone has no keyboard", "[window]") {
    if (!test::display()) {
        return;
    }
    Shown shown;
    shown.settle();
    for (const int frames : {2, 20}) {  // a window draws few without events
        shown.ui.state().panel = PanelId::Figure;
        shown.ui.state().heads = {1};
        shown.settle();
        shown.ui.focus.move_to("head.3");
        shown.frames(10);
        CHECK(shown.ui.focus.name() == "head.3");
        shown.ui.state().panel = PanelId::Model;
        shown.frames(frames);
        CHECK_FALSE(shown.ui.focus.on());
        shown.press("A");  // a key of the panels
        CHECK(shown.ui.state().heads.empty());
    }
}

TEST_CASE("What the menu and the dialog offer is read when they open", "[window]") {
    if (!test::display()) {
        return;
    }
    const TemporaryFolder folder;
    const std::string view = folder.write("my.headscope", "{}");
    Shown shown;
    shown.settle();
    shown.ui.session.settings().recent_models = {view};
    for (const bool exists : {true, false}) {
        shown.click("menu.File");
        CHECK(shown.ui.probes.value_of("menu.recent") == (exists ? "on" : "off"));
        std::filesystem::remove(view);
        shown.frames(3);
        CHECK(shown.ui.probes.value_of("menu.recent") == (exists ? "on" : "off"));
        shown.press("Escape");
    }
    folder.write("my.headscope", "{}");
    for (const bool exists : {true, false}) {
        shown.press("Ctrl+O");
        shown.frames(2);
        CHECK(shown.shows("recent.0") == exists);
        std::filesystem::remove(view);
        shown.frames(3);
        CHECK(shown.shows("recent.0") == exists);
        shown.press("Escape");
        shown.frames(2);
    }
}

TEST_CASE("The dialog stays until the model is open, with what is wrong", "[window]") {
    if (!test::display()) {
        return;
    }
    const TemporaryFolder folder;
    std::filesystem::create_directories(folder.file("empty"));
    Shown shown;
    shown.settle();
    const auto open = [&](const std::string& path) {
        shown.press("Ctrl+A");
        shown.type(path);
        shown.press("Enter");
        shown.settle();
    };
    shown.press("Ctrl+O");
    open(folder.file("empty"));  // which the worker finds out
    REQUIRE(shown.shows("model.problem"));
    CHECK_THAT(*shown.ui.probes.value_of("model.problem"), Contains(folder.file("empty")));
    CHECK(shown.ui.path == folder.file("empty"));
    open(HEADSCOPE_SOURCE_DIR "/assets/models/en-de");
    CHECK_FALSE(shown.shows("model.open"));
}

TEST_CASE("A saved view that hides the first token of a translation model can be undone", "[window]") {
    if (!test::display()) {
        return;
    }
    Shown shown;
    shown.settle();
    CHECK_FALSE(shown.shows("first"));
    shown.ui.state().show_first = false;
    shown.settle();
    shown.click("first");
    CHECK(shown.ui.state().show_first);
}

TEST_CASE("A command that means nothing for the model says why, by key and in the menu", "[window]") {
    if (!test::display()) {
        return;
    }
    Shown shown;
    shown.settle();
    shown.click("menu.Panels");
    CHECK_THAT(shown.ui.probes.value_of("menu.panel.tree").value_or(""), Contains("does not write trees"));
    CHECK(shown.ui.probes.value_of("menu.panel.matrix") == "on");
    shown.press("Escape");
    for (int times = 0; times < 3; ++times) {
        shown.press("Shift+Right");
    }
    REQUIRE(shown.ui.session.notices().size() == 1);
    CHECK_THAT(shown.ui.session.notices().back().text, Contains("open the folder of a training"));
}
