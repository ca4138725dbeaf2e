// The window, drawn by a real device.
#include "viewer/window/window.h"

#include <imgui.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <thread>

#include "display.h"
#include "tests/house/open_options.h"

using namespace headscope;
using namespace headscope::viewer;

TEST_CASE("A played double click works however slowly frames are drawn", "[window]") {
    if (!headscope::test::display()) {
        return;
    }
    Window window({.width = 400, .height = 300, .settings = environment_options().settings, .scripted = true});
    window.on_fonts([] { ImGui::GetIO().Fonts->AddFontDefault(); });
    bool doubled = false;
    const auto frame = [&] {
        window.poll();
        window.frame([&] {
            std::this_thread::sleep_for(std::chrono::milliseconds(200));
            doubled = doubled || ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left);
        });
    };
    window.play({.kind = InputEvent::Kind::Move, .x = 100, .y = 100});
    frame();
    for (const bool down : {true, false, true, false}) {
        window.play({.kind = InputEvent::Kind::Button, .code = 0, .down = down});
        frame();
    }
    CHECK(doubled);
}
