// The status bar: the last notice, or the model's progress and timing.
#include <algorithm>

#include <fmt/format.h>
#include <imgui.h>

#include "support/counted.h"
#include "viewer/draw/theme.h"
#include "viewer/ui/interface.h"
#include "viewer/ui/widgets.h"

namespace headscope::viewer {

namespace {

std::string progress(const Interface& ui) {
    const Side& side = ui.session.scene().main;
    if (side.busy) {
        return side.model.has_value() ? "working \u2026" : "opening the model \u2026";
    }
    if (side.shown == nullptr || !side.shown->problem.empty()) {
        return "";
    }
    const Exploration& shown = *side.shown;
    const bool masks = family_of(ui.session.scene()) == Architecture::MaskedLm;
    return fmt::format("{}, log probability {:.2f}, first after {:.0f} ms, all after {:.0f} ms",
                       counted(shown.steps.size() - shown.prompt, masks ? "mask" : "token"), shown.log_probability,
                       1e3 * shown.seconds_to_first, 1e3 * shown.seconds);
}

std::string whereabouts(const Interface& ui) {
    const auto& model = ui.session.scene().main.model;
    return model.has_value() ? fmt::format("{}  on  {} ({})", model->name, model->device, model->device_name) : "";
}

}  // namespace

void show_status_bar(Interface& ui) {
    const auto& notices = ui.session.notices();
    ImGui::AlignTextToFramePadding();
    const std::string right = whereabouts(ui);
    const float width = ImGui::CalcTextSize(right.c_str()).x;
    const float room = ImGui::GetContentRegionAvail().x;
    if (notices.empty()) {
        const std::string text = progress(ui);
        ImGui::TextDisabled("%s", text.c_str());
        ui.probes.item("status", text);
    } else {
        const Notice& notice = notices.back();
        const ImVec4 colour = to_vec4(notice.error ? ui.ink().warning : ui.ink().text);
        ImGui::PushStyleColor(ImGuiCol_Text, colour);
        // Clipped, not wrapped; the tooltip has the full text.
        const float most = std::max(room - width - 6.0F * ui.em(), 8.0F * ui.em());
        ImGui::BeginChild("notice", ImVec2(most, ImGui::GetFrameHeight()));
        ImGui::AlignTextToFramePadding();
        ImGui::TextUnformatted(notice.text.c_str());
        tip(notice.text.c_str());
        ImGui::EndChild();
        ImGui::PopStyleColor();
        ui.probes.value("status", notice.text);
        ImGui::SameLine();
        if (button(ui, "dismiss", "\u00D7##dismiss", "Dismiss")) {
            ui.session.dismiss(notices.size() - 1);
        }
    }
    ImGui::SameLine();
    ImGui::SetCursorPosX(
        std::max(ImGui::GetCursorPosX(), ImGui::GetCursorPosX() + ImGui::GetContentRegionAvail().x - width));
    ImGui::TextDisabled("%s", right.c_str());
    ui.probes.item("whereabouts", right);
    if (ImGui::IsItemClicked()) {
        ui.show(Overlay::Models);
    }
    tip("Click to open another model or device");
}

}  // namespace headscope::viewer
