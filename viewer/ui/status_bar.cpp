// The status bar: the last notice, or the model's progress and timing.
#include <algorithm>

#include <fmt/format.h>
#include <imgui.h>

#include "model/family.h"
#include "support/counted.h"
#include "viewer/draw/theme.h"
#include "viewer/panels/parts.h"
#include "viewer/ui/interface.h"
#include "viewer/ui/widgets.h"

namespace headscope::viewer {

namespace {

constexpr float kNoticeLines = 6.0F;  // longer ones scroll

std::string progress(const Interface& ui) {
    const Side& side = ui.session.scene().main;
    if (side.busy) {
        return side.model.has_value() ? "working \u2026" : "opening the model \u2026";
    }
    if (side.shown == nullptr || !side.shown->problem.empty()) {
        return "";
    }
    const Exploration& shown = *side.shown;
    if (!traits(family_of(ui.session.scene())).writes_pieces) {
        return fmt::format("{:.0f} ms", 1e3 * shown.seconds);
    }
    const bool masks = traits(family_of(ui.session.scene())).fills_masks;
    return fmt::format("{} \u00B7 log P {:.2f} \u00B7 {:.0f} ms",
                       counted(shown.steps.size() - shown.prompt, masks ? "mask" : "token"), shown.log_probability,
                       1e3 * shown.seconds);
}

// Whether the panel shows this text, in full.
bool in_panel(const Interface& ui, const std::string& text) {
    const Scene& scene = ui.session.scene();
    const PanelId panel = ui.session.scene().state.panel;
    const bool says_why = panel != PanelId::Model || !scene.main.model.has_value();
    return (says_why && text == nothing_there(scene.main)) ||
           (panel == PanelId::Compare && scene.other.has_value() && text == nothing_there(*scene.other));
}

// The newest notice, unless the panel shows it; -1: none.
std::ptrdiff_t notice_to_show(const Interface& ui) {
    const auto& notices = ui.session.notices();
    return notices.empty() || in_panel(ui, notices.back().text) ? -1 : std::ssize(notices) - 1;
}

std::string whereabouts(const Interface& ui) {
    const auto& model = ui.session.scene().main.model;
    return model.has_value() ? fmt::format("{}  on  {} ({})", model->name, model->device, model->device_name) : "";
}

// The rest is for the button beside it and the model's name.
float room_for_notice(const Interface& ui) {
    const float right = ImGui::CalcTextSize(whereabouts(ui).c_str()).x;
    return std::max(ImGui::GetContentRegionAvail().x - right - 6.0F * ui.em(), 8.0F * ui.em());
}

}  // namespace

float status_height(const Interface& ui) {
    const std::ptrdiff_t notice = notice_to_show(ui);
    if (notice < 0) {
        return ImGui::GetFrameHeight();
    }
    const std::string& text = ui.session.notices()[static_cast<std::size_t>(notice)].text;
    const float wrapped = ImGui::CalcTextSize(text.c_str(), nullptr, false, room_for_notice(ui)).y;
    const float most = kNoticeLines * ImGui::GetTextLineHeight();
    return std::min(wrapped, most) + 2.0F * ImGui::GetStyle().FramePadding.y;
}

void show_status_bar(Interface& ui) {
    const auto& notices = ui.session.notices();
    const std::ptrdiff_t shown = notice_to_show(ui);
    ImGui::AlignTextToFramePadding();
    const std::string right = whereabouts(ui);
    const float width = ImGui::CalcTextSize(right.c_str()).x;
    if (shown < 0) {
        const std::string text = progress(ui);
        ImGui::TextDisabled("%s", text.c_str());
        ui.probes.item("status", text);
    } else {
        const Notice& notice = notices[static_cast<std::size_t>(shown)];
        const ImVec4 colour = to_vec4(notice.error ? ui.ink().warning : ui.ink().text);
        ImGui::PushStyleColor(ImGuiCol_Text, colour);
        ImGui::BeginChild("notice", ImVec2(room_for_notice(ui), status_height(ui)));
        ImGui::AlignTextToFramePadding();
        ImGui::PushTextWrapPos(0.0F);
        ImGui::TextUnformatted(notice.text.c_str());
        ImGui::PopTextWrapPos();
        ImGui::EndChild();
        ImGui::PopStyleColor();
        ui.probes.value("status", notice.text);
        ImGui::SameLine();
        if (ui.button("dismiss", "\u00D7##dismiss", "Dismiss")) {
            ui.session.dismiss(static_cast<std::size_t>(shown));
        }
    }
    ImGui::SameLine();
    ImGui::SetCursorPosX(
        std::max(ImGui::GetCursorPosX(), ImGui::GetCursorPosX() + ImGui::GetContentRegionAvail().x - width));
    ImGui::SetCursorPosY(ImGui::GetCursorPosY() + ImGui::GetStyle().FramePadding.y);
    ImGui::PushStyleColor(ImGuiCol_Text, to_vec4(ui.ink().faint));
    if (text_row("whereabouts", right, false, width)) {
        ui.show(Overlay::Open);
    }
    ImGui::PopStyleColor();
    ui.probes.item("whereabouts", right);
    tip("Open another model or device");
}

}  // namespace headscope::viewer
