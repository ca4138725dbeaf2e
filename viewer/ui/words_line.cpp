// The words of a masked language model's text: a click masks one, or fills in a mask.
#include <algorithm>

#include <fmt/format.h>
#include <imgui.h>

#include "viewer/session/masking.h"
#include "viewer/session/wording.h"
#include "viewer/ui/interface.h"
#include "viewer/ui/widgets.h"

namespace headscope::viewer {

namespace {

// "dogs, cats, birds", and what a click does.
std::string mask_tip(const std::vector<Filling>& likeliest) {
    constexpr std::size_t kListed = 5;
    std::string tip;
    for (std::size_t i = 0; i < std::min(likeliest.size(), kListed); ++i) {
        tip += (i == 0 ? "" : ", ") + likeliest[i].text;
    }
    return likeliest.empty() ? "Masked" : tip + "\nClick to fill in the first.";
}

}  // namespace

void show_words(Interface& ui, float room) {
    const Scene& scene = ui.session.scene();
    if (!why_empty(scene.main).empty()) {  // the panel says it
        large_text_button(ui, "translation", "", ui.ink().text, room);
        return;
    }
    const std::string text = ui.state().text;
    const std::vector<TextWord> words = words_in(text);
    const float height = ui.fonts.large_size() + 2.0F * ImGui::GetStyle().FramePadding.y;
    ImGui::BeginChild("words", ImVec2(room, height), false,
                      ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse);
    if (ImGui::IsWindowHovered()) {
        ImGui::SetScrollX(ImGui::GetScrollX() - 4.0F * ui.em() * ImGui::GetIO().MouseWheel);
    }
    ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, ImVec2(0.15F * ui.em(), ImGui::GetStyle().FramePadding.y));
    for (std::size_t i = 0; i < words.size(); ++i) {
        const TextWord& word = words[i];
        const std::vector<Filling> likeliest = fillings(scene, word.mask);
        const std::string shown = likeliest.empty() ? text.substr(word.begin, word.size) : likeliest.front().text;
        if (i > 0) {
            const bool apart = word.begin > words[i - 1].begin + words[i - 1].size;
            ImGui::SameLine(0.0F, apart ? 0.35F * ui.em() : 0.0F);
        }
        const bool masked = word.mask >= 0;
        const bool pressed =
            large_text_button(ui, fmt::format("word.{}", i), shown, masked ? ui.ink().accent : ui.ink().text, 0.0F);
        tip(masked ? mask_tip(likeliest).c_str() : wording(scene).edit_tip);
        if (pressed && !masked) {
            mask_word(ui.state(), i);
        } else if (pressed && !likeliest.empty()) {
            fill_mask(ui.state(), word.mask, likeliest.front());
        }
    }
    ImGui::PopStyleVar();
    ImGui::EndChild();
}

}  // namespace headscope::viewer
