// Keys, commands, scripts and probes, without a window.
#include <algorithm>
#include <cmath>

#include <catch2/catch.hpp>

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include "support/check.h"
#include "viewer/draw/theme.h"
#include "viewer/panels/panel.h"
#include "viewer/ui/commands.h"
#include "viewer/ui/explanations.h"
#include "viewer/ui/probes.h"
#include "viewer/ui/script.h"

using namespace headscope;
using namespace headscope::viewer;
using Catch::Matchers::Contains;

TEST_CASE("Keys are formatted and parsed", "[interface]") {
    CHECK(parse_chord("Ctrl+Shift+P") == Chord{GLFW_KEY_P, GLFW_MOD_CONTROL | GLFW_MOD_SHIFT});
    CHECK(parse_chord("7") == Chord{GLFW_KEY_7, 0});
    CHECK(parse_chord("Ctrl+Plus") == Chord{GLFW_KEY_EQUAL, GLFW_MOD_CONTROL});
    for (const char* text : {"Ctrl+Shift+P", "Escape", "Alt+Left", "F11", "Shift+3", "Comma"}) {
        CHECK(to_string(parse_chord(text)) == text);
    }
    CHECK_THROWS_WITH(parse_chord("Strg+P"), Contains("unknown key \"Strg+P\""));
    CHECK_THROWS_WITH(parse_chord(""), Contains("unknown key"));
    CHECK_THROWS_WITH(parse_chord("Ctrl+"), Contains("unknown key"));
}

TEST_CASE("Keys follow the keyboard layout", "[interface]") {
    CHECK(key_labelled("z", GLFW_KEY_Y) == GLFW_KEY_Z);  // as on a German keyboard
    CHECK(key_labelled("7", GLFW_KEY_7) == GLFW_KEY_7);
    CHECK(key_labelled("+", GLFW_KEY_RIGHT_BRACKET) == GLFW_KEY_EQUAL);
    CHECK(key_labelled("-", GLFW_KEY_SLASH) == GLFW_KEY_MINUS);
    CHECK(key_labelled("\u00FC", GLFW_KEY_LEFT_BRACKET) == GLFW_KEY_LEFT_BRACKET);
    CHECK(key_labelled(nullptr, GLFW_KEY_F1) == GLFW_KEY_F1);
    CHECK(key_labelled("", GLFW_KEY_F1) == GLFW_KEY_F1);
    CHECK(utf8_of('a') == "a");
    CHECK(utf8_of(0xE4) == "\u00E4");
    CHECK(utf8_of(0x2581) == "\u2581");
    CHECK(utf8_of(0x1F642) == "\U0001F642");
}

TEST_CASE("The documents explain every panel and many terms, in plain text", "[interface]") {
    const std::vector<ExplainedRow> rows = explained_panels();
    for (int panel = 0; panel < kPanels; ++panel) {
        const std::string title = panel_of(static_cast<PanelId>(panel)).title;
        INFO(title);
        CHECK(std::ranges::count_if(rows, [&](const ExplainedRow& row) { return row.front().starts_with(title); }) ==
              1);
    }
    CHECK(rows.size() == kPanels);
    const std::vector<ExplainedRow> terms = glossary_terms();
    CHECK(terms.size() > 20);
    for (const std::vector<ExplainedRow>& table : {rows, terms}) {
        for (const ExplainedRow& row : table) {
            CHECK(row.size() == table.front().size());
            for (const std::string& cell : row) {
                CHECK_THAT(cell, !Contains("`") && !Contains("](") && !Contains("*"));
            }
        }
    }
}

TEST_CASE("A command runs by key and by name, and while typing only if allowed", "[interface]") {
    Commands commands;
    int quiet = 0;
    int always = 0;
    commands.add({"quiet", "Attention", "One layer up", "Up U", false, [&] { ++quiet; }});
    commands.add({"always", "Program", "Find a command", "Ctrl+P", true, [&] { ++always; }});
    const auto id = [&](const char* key, bool typing) {
        const Command* found = commands.with_key(parse_chord(key), typing);
        return found == nullptr ? "" : found->id;
    };
    CHECK(id("U", false) == "quiet");
    CHECK(id("U", true).empty());
    CHECK(id("Up", false) == "quiet");
    CHECK(id("Ctrl+P", true) == "always");
    CHECK(id("P", false).empty());
    commands.run("quiet");
    CHECK(quiet == 1);
    CHECK(always == 0);
    CHECK_THROWS_WITH(commands.run("loud"), Contains("unknown command \"loud\""));
    CHECK(commands.matching("LAYER att").size() == 1);
    CHECK(commands.matching("").size() == 2);
    CHECK(commands.matching("layer program").empty());
    CHECK_THROWS(commands.add({"other", "", "", "Up", false, [] {}}));
    CHECK_THROWS(commands.add({"quiet", "", "", "", false, [] {}}));
}

TEST_CASE("Commands are found by other words, and disabled ones say why and do nothing", "[interface]") {
    Commands commands;
    int done = 0;
    bool can = false;
    const CommandGroup add(commands, "Edit", [&] { return can ? "" : "There is nothing to undo."; });
    add(
        "undo", "Undo", "Ctrl+Z", true, [&] { ++done; }, "take back");
    CHECK(commands.matching("BACK").size() == 1);
    CHECK(why_disabled(commands.all().front()) == "There is nothing to undo.");
    commands.run("undo");
    CHECK(done == 0);
    can = true;
    CHECK(why_disabled(commands.all().front()).empty());
    commands.run("undo");
    CHECK(done == 1);
}

TEST_CASE("Keys are shown as they are labelled", "[interface]") {
    const auto shown = [](const char* keys) { return shown_keys({"id", "Edit", "Title", keys, false, [] {}}); };
    CHECK(shown("").empty());
    CHECK(shown("Ctrl+Y Ctrl+Shift+Z") == "Ctrl+Y or Ctrl+Shift+Z");
    CHECK(shown("Ctrl+Comma") == "Ctrl+,");
    CHECK(shown("LeftBracket") == "[");
}

TEST_CASE("Text has a contrast of 4.5 on every ground of the theme, and the ring one of 3", "[interface]") {
    const Ink ink = GENERATE(kLightInk, kDarkInk);
    const ImGuiStyle style = style_of(ink, 1.0F);
    const auto colour = [&](ImGuiCol name) {
        const ImVec4 one = style.Colors[name];
        const auto channel = [](float value) { return static_cast<std::uint8_t>(std::lround(255.0F * value)); };
        return Colour{channel(one.x), channel(one.y), channel(one.z)};
    };
    for (const ImGuiCol ground :
         {ImGuiCol_WindowBg, ImGuiCol_PopupBg, ImGuiCol_FrameBg, ImGuiCol_FrameBgHovered, ImGuiCol_FrameBgActive,
          ImGuiCol_Button, ImGuiCol_ButtonHovered, ImGuiCol_ButtonActive, ImGuiCol_Header, ImGuiCol_HeaderHovered,
          ImGuiCol_HeaderActive, ImGuiCol_MenuBarBg, ImGuiCol_TitleBgActive, ImGuiCol_TabHovered}) {
        INFO(ImGui::GetStyleColorName(ground) << (ink.dark ? ", dark" : ", light"));
        CHECK(contrast(colour(ImGuiCol_Text), colour(ground)) >= 4.5);
        CHECK(contrast(colour(ImGuiCol_TextDisabled), colour(ground)) >= 4.5);
    }
    for (const ImGuiCol ground : {ImGuiCol_WindowBg, ImGuiCol_PopupBg, ImGuiCol_FrameBg, ImGuiCol_Button}) {
        INFO(ImGui::GetStyleColorName(ground) << (ink.dark ? ", dark" : ", light"));
        CHECK(contrast(ink.warning, colour(ground)) >= 4.5);
        CHECK(contrast(colour(ImGuiCol_NavHighlight), colour(ground)) >= 3.0);
    }
    CHECK(contrast(text_colour_on(ink.accent), ink.accent) >= 4.5);
}

TEST_CASE("A script is parsed line by line, and errors have the line number", "[interface]") {
    const auto lines = parse_script("# first\n\n  wait  \ntype two  words \nexpect a.b = c\n", "tour");
    REQUIRE(lines.size() == 3);
    CHECK(lines[0].verb == "wait");
    CHECK(lines[0].number == 3);
    CHECK(lines[1].rest == "two  words");
    CHECK(lines[2].rest == "a.b = c");
    CHECK(parse_script("", "tour").empty());
    CHECK_THROWS_WITH(parse_script("wait\nwate\n", "tour"),
                      Contains("tour, line 2: unknown command \"wate\"") && Contains("size, wait, frames"));
}

TEST_CASE("Probes find primitives by role and number, pair or head", "[interface]") {
    Drawing drawing{100.0, 100.0, "Title", "Words", {}};
    Mark swatch{Role::Swatch, 3};
    Mark cell{Role::Cell, 0, 4, 1};
    Mark tile{Role::Frame, 2};
    tile.layer = 5;
    drawing.primitives.push_back({swatch, kBlack, 1.0, Rect{10.0, 20.0, 4.0, 6.0}});
    drawing.primitives.push_back({cell, kBlack, 1.0, Rect{50.0, 50.0, 10.0, 10.0}});
    drawing.primitives.push_back({tile, kBlack, 1.0, Rect{70.0, 70.0, 20.0, 20.0}});
    Probes probes;
    probes.drawing("figure", drawing, {ImVec2(100.0F, 0.0F), 2.0F});
    probes.value("status", "ready");
    const auto at = [&](const char* name) {
        const auto place = probes.find(name);
        return place.has_value() ? std::pair(place->x, place->y) : std::pair(-1.0F, -1.0F);
    };
    CHECK(at("figure.swatches.3") == std::pair(124.0F, 46.0F));
    CHECK(at("figure.cells.4-1") == std::pair(210.0F, 110.0F));
    CHECK(at("figure.frames.L5H2") == std::pair(260.0F, 160.0F));
    CHECK_FALSE(probes.find("figure.swatches.4").has_value());
    CHECK_FALSE(probes.find("other.swatches.3").has_value());
    CHECK_FALSE(probes.find("figure").has_value());
    CHECK(probes.value_of("figure.title") == "Title");
    CHECK(probes.value_of("status") == "ready");
    CHECK_THAT(probes.list(), Contains("status = ready"));
    probes.clear();
    CHECK_FALSE(probes.value_of("status").has_value());
}
