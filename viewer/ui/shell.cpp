// The layout of the window: menus, sentence bar, navigation, panel, controls, status bar.
#include <algorithm>
#include <string>
#include <vector>

#include <imgui.h>

#include "viewer/draw/theme.h"
#include "viewer/session/wording.h"
#include "viewer/ui/interface.h"
#include "viewer/ui/widgets.h"

namespace headscope::viewer {

namespace {

constexpr float kControlsWidth = 18.5F;  // in text sizes
constexpr float kNavigationWidth = 8.2F;
constexpr float kNarrow = 62.0F;  // a narrower window has no navigation
constexpr ImGuiWindowFlags kFixed = ImGuiWindowFlags_NoTitleBar | ImGuiWindowFlags_NoResize | ImGuiWindowFlags_NoMove |
                                    ImGuiWindowFlags_NoCollapse | ImGuiWindowFlags_NoBringToFrontOnFocus |
                                    ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoScrollbar |
                                    ImGuiWindowFlags_NoScrollWithMouse;

void navigation(Interface& ui) {
    const float height = 1.9F * ui.em();
    ImGui::PushStyleVar(ImGuiStyleVar_ButtonTextAlign, ImVec2(0.0F, 0.5F));
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(0.0F, 0.15F * ui.em()));
    ImGui::PushStyleVar(ImGuiStyleVar_FrameBorderSize, 0.0F);
    for (int index = 0; index < kPanels; ++index) {
        const auto panel = static_cast<PanelId>(index);
        if (!offered(ui.session.scene(), panel)) {
            continue;
        }
        const bool on = ui.state().panel == panel;
        const ImVec4 ground = on ? to_vec4(mixed(ui.ink().surface, ui.ink().accent, 0.22)) : ImVec4(0, 0, 0, 0);
        ImGui::PushStyleColor(ImGuiCol_Button, ground);
        ImGui::PushFont(on ? ui.fonts.bold() : ui.fonts.text());
        if (ImGui::Button(title_of(panel, reading_of(ui.session.scene())), ImVec2(-1.0F, height))) {
            ui.state().panel = panel;
        }
        ImGui::PopFont();
        ImGui::PopStyleColor();
        ui.probes.item(std::string("panel.") + name_of(panel), on ? "on" : "off");
        if (on) {
            const ImVec2 low = ImGui::GetItemRectMin();
            ImGui::GetWindowDrawList()->AddRectFilled(low, ImVec2(low.x + 3.0F * ui.scale(), low.y + height),
                                                      to_u32(ui.ink().accent), 1.5F * ui.scale());
        }
    }
    ImGui::PopStyleVar(3);
}

// The panels as a drop-down list, where there is no room for one beside the panel.
void panel_choice(Interface& ui) {
    std::string chosen = name_of(ui.state().panel);
    std::vector<Controls::Offer> offers;
    for (int index = 0; index < kPanels; ++index) {
        const auto panel = static_cast<PanelId>(index);
        if (offered(ui.session.scene(), panel)) {
            offers.push_back({name_of(panel), title_of(panel, reading_of(ui.session.scene())), ""});
        }
    }
    ui.drop_down("panel", chosen, offers);
    ui.state().panel = parse_panel(chosen);
}

void panels(Interface& ui, ImVec2 size) {
    ImGui::PushStyleColor(ImGuiCol_ChildBg, to_vec4(ui.ink().paper));
    ImGui::BeginChild("panel", size, true, ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse);
    ImGui::PopStyleColor();
    show_panel(ui, ui.state().panel);
    ImGui::EndChild();
}

void show_panel_and_side_bars(Interface& ui) {
    const float gap = ImGui::GetStyle().ItemSpacing.x;
    const float below = status_height(ui) + ImGui::GetStyle().ItemSpacing.y;
    const ImVec2 room = ImGui::GetContentRegionAvail();
    const float height = std::max(room.y - below, 8.0F * ui.em());
    const bool narrow = room.x < kNarrow * ui.em();
    const float side = ui.side_bars && !narrow ? kNavigationWidth * ui.em() + gap : 0.0F;
    const float controls = ui.side_bars ? kControlsWidth * ui.em() + gap : 0.0F;
    if (side > 0.0F) {
        ImGui::BeginChild("navigation", ImVec2(side - gap, height), false, ImGuiWindowFlags_NoScrollbar);
        navigation(ui);
        ImGui::EndChild();
        ImGui::SameLine();
    }
    panels(ui, ImVec2(std::max(room.x - side - controls, 10.0F * ui.em()), height));
    if (controls > 0.0F) {
        ImGui::SameLine();
        ImGui::BeginChild("controls", ImVec2(controls - gap, height));
        if (narrow) {
            panel_choice(ui);
        }
        show_controls(ui);
        ImGui::EndChild();
    }
}

}  // namespace

void show_shell(Interface& ui) {
    ui.focus.begin_frame();
    const ImGuiViewport* viewport = ImGui::GetMainViewport();
    ImGui::SetNextWindowPos(viewport->WorkPos);
    ImGui::SetNextWindowSize(viewport->WorkSize);
    ImGui::Begin("Headscope", nullptr, kFixed | ImGuiWindowFlags_MenuBar);
    show_menu_bar(ui);
    show_sentence_bar(ui);
    show_panel_and_side_bars(ui);
    show_status_bar(ui);
    ImGui::End();
    show_overlays(ui);
    ui.probes.value("focus", ui.focus.name());
    ui.focus.end_frame();
    ui.typing = ImGui::GetIO().WantTextInput;
}

}  // namespace headscope::viewer
