// Controls of panels that nothing else in the window has.
#include <algorithm>

#include <fmt/format.h>
#include <imgui.h>
#include <imgui_stdlib.h>

#include "viewer/draw/theme.h"
#include "viewer/ui/interface.h"
#include "viewer/ui/widgets.h"

namespace headscope::viewer {

void Interface::line(const std::string& name, const std::string& text) {
    ImGui::TextUnformatted(text.c_str());
    probes.item(name, text);
}

bool Interface::small_button(const std::string& name, const std::string& label) {
    const bool pressed = ImGui::SmallButton((label + "##" + name).c_str());
    probes.item(name);
    return pressed;
}

bool Interface::slider(const char* name, double& value, double least, double most, const std::string& label) {
    constexpr float kShare = 0.4F;  // of the width; the knob must not cover the label
    auto shown = static_cast<float>(value);
    ImGui::SetNextItemWidth(kShare * ImGui::GetContentRegionAvail().x);
    const bool changed = ImGui::SliderFloat(fmt::format("##{}", name).c_str(), &shown, static_cast<float>(least),
                                            static_cast<float>(most), "");
    if (changed) {
        value = static_cast<double>(shown);
    }
    probes.item(name, fmt::format("{:.1f}", value));
    ImGui::SameLine();
    ImGui::AlignTextToFramePadding();
    ImGui::TextUnformatted(label.c_str());
    return changed;
}

bool Interface::scrubber(const char* name, int& value, int least, int most) {
    ImGui::SetNextItemWidth(-1.0F);
    const bool changed = ImGui::SliderInt(fmt::format("##{}", name).c_str(), &value, least, most, "");
    probes.item(name, fmt::format("{}", value));
    return changed;
}

std::string& Interface::field(const char* name, const char* hint) {
    edit(name, hint, typed[name]);
    return typed[name];
}

void Interface::edit(const char* name, const char* hint, std::string& text) {
    const std::string before = text;
    text_field(*this, name, hint, text, false);
    if (escaped) {  // Dear ImGui reverts the field, but what was typed is in use already
        text = before;
    }
}

Interface::Entry Interface::entry(const char* name, const char* hint, const char* action, bool enabled) {
    Entry entry{.text = typed[name]};
    const std::string before = entry.text;
    const ImGuiStyle& style = ImGui::GetStyle();
    const float button_width = 4.5F * em();
    if (focus_entry == name) {
        focus_entry.clear();
        ImGui::SetKeyboardFocusHere();
    }
    ImGui::PushID(name);
    ImGui::SetNextItemWidth(-(button_width + style.ItemSpacing.x));
    entry.entered = ImGui::InputTextWithHint("##field", hint, &entry.text, ImGuiInputTextFlags_EnterReturnsTrue);
    probes.item(name, entry.text);
    if (escaped) {  // Dear ImGui reverts the field
        entry.text = before;
    }
    if (entry.entered) {
        focus_entry = name;
    }
    ImGui::SameLine();
    ImGui::BeginDisabled(!enabled);
    entry.pressed = ImGui::Button(action, ImVec2(button_width, 0.0F));
    ImGui::EndDisabled();
    ImGui::PopID();
    probes.item(std::string(name) + ".action", action);
    return entry;
}

std::string& Interface::device_choice(const char* name) {
    std::string& device = typed[name];
    device_combo(*this, name, device);
    return device;
}

void Interface::drop_down(const char* name, std::string& chosen, const std::vector<Offer>& offers) {
    const auto found = std::find_if(offers.begin(), offers.end(), [&](const Offer& one) { return one.id == chosen; });
    const std::string shown = found == offers.end() ? chosen : found->chosen.empty() ? found->text : found->chosen;
    ImGui::SetNextItemWidth(-1.0F);
    if (ImGui::BeginCombo(fmt::format("##{}", name).c_str(), shown.c_str())) {
        for (const Offer& offer : offers) {
            if (text_row(name + offer.id, offer.text, chosen == offer.id, 0.0F)) {
                chosen = offer.id;
            }
            probes.item(fmt::format("{}.{}", name, offer.id.empty() ? "default" : offer.id));
        }
        ImGui::EndCombo();
    }
    probes.item(name, chosen);
}

namespace {

void strike_out(const Interface& ui) {
    const ImVec2 low = ImGui::GetItemRectMin();
    const ImVec2 high = ImGui::GetItemRectMax();
    ImDrawList& list = *ImGui::GetWindowDrawList();
    list.AddLine(ImVec2(low.x, high.y), ImVec2(high.x, low.y), to_u32(ui.ink().paper), 4.0F * ui.scale());
    list.AddLine(ImVec2(low.x, high.y), ImVec2(high.x, low.y), to_u32(ui.ink().text), 1.5F * ui.scale());
}

bool swatch_button(Interface& ui, const HeadSwatch& swatch, float side) {
    const Colour full = head_colour(ui.state().palette, swatch.head, ui.ink());
    const Colour colour = swatch.visible ? full : faded(full, ui.ink());
    ImGui::PushStyleColor(ImGuiCol_Button, to_vec4(colour));
    ImGui::PushStyleColor(ImGuiCol_ButtonHovered, to_vec4(mixed(colour, ui.ink().text, 0.15)));
    ImGui::PushStyleColor(ImGuiCol_Text, to_vec4(swatch.visible ? text_colour_on(full) : ui.ink().off));
    const bool pressed = ImGui::Button(fmt::format("{}##head", swatch.head).c_str(), ImVec2(side, side));
    ImGui::PopStyleColor(3);
    ui.probes.item(fmt::format("head.{}", swatch.head), swatch.visible ? "on" : "off");
    return pressed;
}

}  // namespace

HeadClick Interface::heads(const std::vector<HeadSwatch>& swatches) {
    const float side = 1.75F * em();
    const float room = ImGui::GetContentRegionAvail().x;
    float used = 0.0F;
    HeadClick click;
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(2.0F, 2.0F));
    for (const HeadSwatch& swatch : swatches) {
        const float gap = swatch.begins_group ? 0.5F * em() : 2.0F;
        if (swatch.head > 1 && used + gap + side <= room) {
            ImGui::SameLine(0.0F, gap);
            used += gap + side;
        } else {
            used = side;
        }
        if (swatch_button(*this, swatch, side)) {
            click = {swatch.head, ImGui::GetIO().KeyShift};
        }
        if (swatch.off) {
            strike_out(*this);
        }
        tip(swatch.off ? "The model runs without this head. Surgery switches it on again."
                       : "Click to toggle. Shift+click to show only this head, or all again.");
    }
    ImGui::PopStyleVar();
    ImGui::Dummy(ImVec2(0.0F, 0.0F));  // with the usual spacing
    return click;
}

void Interface::beside() {
    ImGui::SameLine();
}

void Interface::run(const char* command) {
    commands.run(command);
}

void Interface::copy(const std::string& text) {
    ImGui::SetClipboardText(text.c_str());
}

void Interface::point_out() {
    ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
}

}  // namespace headscope::viewer
