#include "viewer/ui/widgets.h"

#include <algorithm>

#include <imgui.h>
#include <imgui_stdlib.h>

#include "viewer/draw/theme.h"
#include "viewer/ui/interface.h"

namespace headscope::viewer {

bool Interface::segmented(const char* name, int& chosen, const std::vector<const char*>& labels,
                          const std::string& text) {
    const int before = chosen;
    const float gap = 1.0F;
    const float room = ImGui::GetContentRegionAvail().x;
    float natural = 0.0F;
    for (const char* label : labels) {
        natural += ImGui::CalcTextSize(label).x + 2.0F * ImGui::GetStyle().FramePadding.x + gap;
    }
    // Wraps parts that do not fit.
    const bool stretch = natural <= room;
    const float extra = stretch ? (room - natural) / static_cast<float>(labels.size()) : 0.0F;
    ImGui::PushID(name);
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(gap, ImGui::GetStyle().ItemSpacing.y));
    float used = 0.0F;
    for (int index = 0; index < static_cast<int>(labels.size()); ++index) {
        const char* label = labels[static_cast<std::size_t>(index)];
        const float width = ImGui::CalcTextSize(label).x + 2.0F * ImGui::GetStyle().FramePadding.x + extra;
        if (index > 0 && used + width <= room + 1.0F) {
            ImGui::SameLine();
        } else {
            used = 0.0F;
        }
        used += width + gap;
        const bool on = index == before;
        if (on) {
            ImGui::PushStyleColor(ImGuiCol_Button, to_vec4(ink().accent));
            ImGui::PushStyleColor(ImGuiCol_ButtonHovered, to_vec4(ink().accent));
            ImGui::PushStyleColor(ImGuiCol_Text, to_vec4(text_colour_on(ink().accent)));
        }
        if (ImGui::Button(label, ImVec2(width, 0.0F))) {
            chosen = index;
        }
        if (on) {
            ImGui::PopStyleColor(3);
        }
        probes.item(std::string(name) + "." + label, on ? "on" : "off");
    }
    ImGui::PopStyleVar();
    ImGui::PopID();
    tip(text);
    return chosen != before;
}

bool Interface::stepper(const char* name, const std::string& label, int& value, int least, int most) {
    const int before = value;
    ImGui::PushID(name);
    const float side = ImGui::GetFrameHeight();
    const auto step = [&](const char* sign, int by, const char* probe) {
        ImGui::BeginDisabled(value + by < least || value + by > most);
        if (ImGui::Button(sign, ImVec2(side, 0.0F))) {
            value += by;
        }
        ImGui::EndDisabled();
        probes.item(std::string(name) + probe);
    };
    step("\u2212", -1, ".less");
    ImGui::SameLine();
    const float room = ImGui::GetContentRegionAvail().x - side - ImGui::GetStyle().ItemSpacing.x;
    const float width = ImGui::CalcTextSize(label.c_str()).x;
    const float x = ImGui::GetCursorPosX();
    ImGui::AlignTextToFramePadding();
    ImGui::SetCursorPosX(x + std::max(0.0F, 0.5F * (room - width)));
    ImGui::TextUnformatted(label.c_str());
    probes.item(name, label);
    ImGui::SameLine();
    ImGui::SetCursorPosX(x + std::max(room, width) + ImGui::GetStyle().ItemSpacing.x);
    step("+", 1, ".more");
    ImGui::PopID();
    return value != before;
}

bool Interface::toggle(const char* name, const std::string& label, bool& value, const std::string& text) {
    const bool changed = ImGui::Checkbox(label.c_str(), &value);
    probes.item(name, value ? "on" : "off");
    tip(text);
    return changed;
}

bool Interface::button(const std::string& name, const std::string& label, const std::string& text, bool enabled) {
    ImGui::BeginDisabled(!enabled);
    ImGui::PushID(name.c_str());
    const bool pressed = ImGui::Button(label.c_str());
    ImGui::PopID();
    ImGui::EndDisabled();
    probes.item(name, label);
    tip(text);
    return pressed;
}

bool text_row(const std::string& id, const std::string& text, bool on, float width) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const bool pressed = ImGui::Selectable(("##" + id).c_str(), on, 0, ImVec2(width, ImGui::GetTextLineHeight()));
    ImGui::GetWindowDrawList()->AddText(at, ImGui::GetColorU32(ImGuiCol_Text), text.c_str());
    return pressed;
}

bool text_button(const std::string& id, const std::string& text, ImVec2 size) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const bool pressed = ImGui::Button(("##" + id).c_str(), size);
    const ImVec2 padding = ImGui::GetStyle().FramePadding;
    ImDrawList& list = *ImGui::GetWindowDrawList();
    list.PushClipRect(at, ImVec2(at.x + ImGui::GetItemRectSize().x - padding.x, at.y + ImGui::GetItemRectSize().y),
                      true);
    list.AddText(ImVec2(at.x + padding.x, at.y + padding.y), ImGui::GetColorU32(ImGuiCol_Text), text.c_str());
    list.PopClipRect();
    return pressed;
}

bool large_text_button(Interface& ui, const std::string& name, const std::string& text, Colour colour, float width) {
    ImGui::PushStyleColor(ImGuiCol_Button, to_vec4(ui.ink().paper, 0.0F));
    ImGui::PushStyleColor(ImGuiCol_Text, to_vec4(colour));
    ImGui::PushFont(ui.fonts.large());
    const float natural = ImGui::CalcTextSize(text.c_str()).x + 2.0F * ImGui::GetStyle().FramePadding.x;
    const bool pressed = text_button(name, text, ImVec2(width > 0.0F ? width : natural, 0.0F));
    ImGui::PopFont();
    ImGui::PopStyleColor(2);
    ui.probes.item(name, text);
    return pressed;
}

bool device_combo(Interface& ui, const char* name, std::string& device) {
    bool changed = false;
    ImGui::SetNextItemWidth(-1.0F);
    if (ImGui::BeginCombo((std::string("##") + name).c_str(), device.empty() ? "the default device" : device.c_str())) {
        const auto offer = [&](const std::string& id, const std::string& text) {
            if (text_row(id, text, device == id, 0.0F)) {
                device = id;
                changed = true;
            }
            ui.probes.item(std::string(name) + "." + (id.empty() ? "default" : id));
        };
        offer("", "the default device");
        for (const DeviceInfo& info : ui.device_list) {
            if (info.rejected.empty()) {
                offer(info.id, info.id + "  " + info.name);
            } else {
                ImGui::TextDisabled("%s  %s", info.id.c_str(), info.name.c_str());
                tip(info.rejected);
            }
        }
        ImGui::EndCombo();
    }
    ui.probes.item(name, device);
    return changed;
}

void Interface::heading(const std::string& text) {
    ImGui::Dummy(ImVec2(0.0F, 0.15F * em()));
    ImGui::PushFont(fonts.bold());
    ImGui::TextUnformatted(text.c_str());
    ImGui::PopFont();
}

void Interface::remark(const std::string& text, const std::string& name) {
    fonts.need(text);
    ImGui::PushStyleColor(ImGuiCol_Text, to_vec4(ink().faint));
    ImGui::PushTextWrapPos(0.0F);
    ImGui::TextUnformatted(text.c_str());
    ImGui::PopTextWrapPos();
    ImGui::PopStyleColor();
    if (!name.empty()) {
        probes.item(name, text);
    }
}

void tip(const std::string& text) {
    if (!text.empty() && ImGui::IsItemHovered(ImGuiHoveredFlags_AllowWhenDisabled)) {
        const ImVec2 below(ImGui::GetItemRectMin().x, ImGui::GetItemRectMax().y);
        tooltip(text, 24.0F, {}, keyboard_points_at_item() ? below : ImGui::GetIO().MousePos);
    }
}

namespace {

constexpr float kBarRoom = 8.0F;  // in text sizes
constexpr float kBarLabel = 5.0F;
constexpr float kBarNumber = 2.5F;

ImVec2 size_of_tooltip(const std::string& text, float width, const std::vector<TipBar>& bars) {
    const float em = ImGui::GetFontSize();
    ImVec2 size = ImGui::CalcTextSize(text.c_str(), nullptr, false, width * em);
    if (!bars.empty()) {
        size.x = std::max(size.x, (kBarLabel + kBarRoom + kBarNumber) * em);
        size.y += static_cast<float>(bars.size()) * ImGui::GetTextLineHeightWithSpacing();
    }
    return size;
}

void show_bar(const TipBar& bar, float em) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float height = ImGui::GetTextLineHeight();
    ImGui::TextUnformatted(bar.label.c_str());
    const float left = at.x + kBarLabel * em;
    const float length = kBarRoom * em * std::clamp(static_cast<float>(bar.value), 0.0F, 1.0F);
    ImDrawList& list = *ImGui::GetWindowDrawList();
    list.AddRectFilled(ImVec2(left, at.y + 0.2F * height), ImVec2(left + std::max(length, 1.0F), at.y + 0.85F * height),
                       to_u32(bar.colour));
    ImGui::SameLine((kBarLabel + kBarRoom + 0.4F) * em + ImGui::GetStyle().WindowPadding.x);
    ImGui::Text("%.2f", bar.value);
}

}  // namespace

// Positioned here, since ImGui's default position depends on its version. The wrap position is relative to the window
// and includes its padding.
void tooltip(const std::string& text, float width, const std::vector<TipBar>& bars, ImVec2 pointer) {
    const float em = ImGui::GetFontSize();
    const ImVec2 padding = ImGui::GetStyle().WindowPadding;
    const ImVec2 size = size_of_tooltip(text, width, bars);
    const ImVec2 room = ImGui::GetIO().DisplaySize;
    const float margin = 0.3F * em;
    const float x = std::min(pointer.x + 1.2F * em, room.x - size.x - 2.0F * padding.x - margin);
    const float below = pointer.y + 1.2F * em;
    const float height = size.y + 2.0F * padding.y;
    const float y = below + height + margin > room.y ? pointer.y - 0.5F * em - height : below;
    ImGui::SetNextWindowPos(ImVec2(std::max(x, 0.0F), std::max(y, 0.0F)));
    ImGui::BeginTooltip();
    ImGui::PushTextWrapPos(width * em + padding.x);
    ImGui::TextUnformatted(text.c_str());
    ImGui::PopTextWrapPos();
    for (const TipBar& bar : bars) {
        show_bar(bar, em);
    }
    ImGui::EndTooltip();
}

bool text_field(Interface& ui, const char* name, const char* hint, std::string& text, bool focus) {
    if (focus) {
        ImGui::SetKeyboardFocusHere();
    }
    ImGui::SetNextItemWidth(-1.0F);
    ImGui::PushID(name);
    const bool entered = ImGui::InputTextWithHint("##field", hint, &text, ImGuiInputTextFlags_EnterReturnsTrue);
    ImGui::PopID();
    ui.probes.item(name, text);
    return entered;
}

}  // namespace headscope::viewer
