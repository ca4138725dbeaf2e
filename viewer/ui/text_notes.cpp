// What the sentence bar says of a text: which of its sentences is shown, and what the model cannot read.
#include <algorithm>

#include <fmt/format.h>
#include <imgui.h>

#include "viewer/draw/theme.h"
#include "viewer/session/rows.h"
#include "viewer/session/text_notes.h"
#include "viewer/ui/interface.h"
#include "viewer/ui/widgets.h"

namespace headscope::viewer {

namespace {

void arrow(Interface& ui, const char* name, ImGuiDir direction, int sentence, int sentences) {
    ImGui::BeginDisabled(sentence < 0 || sentence >= sentences);
    if (ImGui::ArrowButton(name, direction)) {
        choose_sentence(ui.state(), sentence);
    }
    ImGui::EndDisabled();
    ui.probes.item(name);
}

void note(Interface& ui, const char* name, const std::string& text, const Colour& colour) {
    ImGui::PushStyleColor(ImGuiCol_Text, to_vec4(colour));
    ImGui::PushTextWrapPos(0.0F);
    ImGui::TextUnformatted(text.c_str());
    ImGui::PopTextWrapPos();
    ImGui::PopStyleColor();
    ui.probes.item(name, text);
}

}  // namespace

void show_text_notes(Interface& ui) {
    const Scene& scene = ui.session.scene();
    if (!scene.main.model.has_value()) {
        return;
    }
    const PartsOfText* parts = parts_of(ui.state(), *scene.main.model);
    if (parts != nullptr && parts->sentences.size() > 1) {
        const int count = static_cast<int>(parts->sentences.size());
        const int at = shown_sentence(ui.state(), *parts);
        arrow(ui, "sentence.less", ImGuiDir_Left, at - 1, count);
        ImGui::SameLine();
        arrow(ui, "sentence.more", ImGuiDir_Right, at + 1, count);
        ImGui::SameLine();
        ImGui::AlignTextToFramePadding();
    }
    if (const std::string text = note_on_length(scene); !text.empty()) {
        note(ui, "sentence", text, ui.ink().text);
    }
    if (const std::string text = note_on_unknown(scene); !text.empty()) {
        note(ui, "unknown", text, ui.ink().warning);
    }
}

}  // namespace headscope::viewer
