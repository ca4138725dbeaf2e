// Dialogs over the panels: help, the command palette, settings; file_dialogs.cpp has those of files.
#include <algorithm>
#include <cctype>
#include <utility>

#include <fmt/format.h>
#include <imgui.h>
#include <imgui_stdlib.h>

#include "viewer/draw/theme.h"
#include "viewer/session/wording.h"
#include "viewer/ui/about.h"
#include "viewer/ui/explanations.h"
#include "viewer/ui/interface.h"
#include "viewer/ui/widgets.h"

namespace headscope::viewer {

namespace {

constexpr float kWidth = 38.0F;  // in text sizes
constexpr std::size_t kPaletteRows = 14;
constexpr int kPageOfPalette = 10;

// Begins a table of two columns, as wide as this, which the arrows and page keys scroll; false if none of it is seen.
bool begin_scrolled(Interface& ui, const char* name, float left, float right, float below) {
    if (!ImGui::BeginTable(name, 2, ImGuiTableFlags_ScrollY, ImVec2(0.0F, -below * ui.em()))) {
        return false;
    }
    ImGui::TableSetupColumn("left", ImGuiTableColumnFlags_WidthStretch, left);
    ImGui::TableSetupColumn("right", ImGuiTableColumnFlags_WidthStretch, right);
    const auto rows = static_cast<float>(std::exchange(ui.overlay_rows, 0));
    const auto pages = static_cast<float>(std::exchange(ui.overlay_pages, 0));
    if (rows != 0.0F || pages != 0.0F) {
        ImGui::SetScrollY(ImGui::GetScrollY() + rows * ImGui::GetTextLineHeightWithSpacing() +
                          0.8F * pages * ImGui::GetWindowHeight());
    }
    ui.probes.value(fmt::format("{}.scroll", name), fmt::format("{:.0f}", ImGui::GetScrollY()));
    return true;
}

void help(Interface& ui) {
    std::string group;
    if (!begin_scrolled(ui, "help", 3.0F, 2.0F, 4.0F)) {
        return;
    }
    for (const Command& command : ui.commands.all()) {
        if (command.group != group) {
            group = command.group;
            ImGui::TableNextRow();
            ImGui::TableNextColumn();
            ui.heading(group);
        }
        ImGui::TableNextRow();
        ImGui::TableNextColumn();
        ImGui::TextUnformatted(command.title.c_str());
        ImGui::TableNextColumn();
        ImGui::TextDisabled("%s", shown_keys(command).c_str());
    }
    ImGui::EndTable();
    ui.remark(
        "Tab goes through all controls, Space presses one, Escape leaves them. Ctrl+wheel zooms, the middle button "
        "drags. "
        "Ctrl+P finds all commands, also those without a key.");
}

void glossary(Interface& ui) {
    if (!begin_scrolled(ui, "glossary", 1.0F, 3.0F, 0.0F)) {
        return;
    }
    for (const ExplainedRow& term : glossary_terms()) {
        ImGui::TableNextRow();
        ImGui::TableNextColumn();
        ImGui::TextUnformatted(term.front().c_str());
        ImGui::TableNextColumn();
        ImGui::TextWrapped("%s", term.back().c_str());
        ui.probes.item("glossary." + term.front(), term.back());
    }
    ImGui::EndTable();
}

// What docs/viewer.md says of the panel.
void explained(Interface& ui) {
    const std::string title = panel_of(ui.state().panel).title;
    for (const ExplainedRow& row : explained_panels()) {
        if (row.front().starts_with(title)) {
            ui.heading(title_of(ui.state().panel, reading_of(ui.session.scene())));
            std::string text = row.at(1) + ".";
            text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
            ui.remark(text, "explained");
            if (!row.at(2).empty()) {
                ui.remark("Keys: " + row.at(2));
            }
        }
    }
    if (ui.button("explained.terms", "Glossary")) {
        ui.show(Overlay::Glossary);
    }
}

void palette(Interface& ui) {
    if (ui.overlay_opened) {
        ui.query.clear();
        ui.palette_row = 0;
    }
    const std::string before = ui.query;
    const bool entered = text_field(ui, "palette.query", "Type a command", ui.query, ui.overlay_opened);
    const auto found = ui.commands.matching(ui.query);
    if (ui.query != before) {
        ui.palette_row = 0;
    }
    const int steps = std::exchange(ui.overlay_rows, 0) + kPageOfPalette * std::exchange(ui.overlay_pages, 0);
    const bool moved = steps != 0;
    ui.palette_row += steps;
    ui.palette_row = std::clamp(ui.palette_row, 0, std::max(static_cast<int>(found.size()) - 1, 0));
    const Command* chosen = entered && !found.empty() ? found[static_cast<std::size_t>(ui.palette_row)] : nullptr;
    if (found.empty()) {
        ui.remark("No command matches.", "palette.none");
    }
    const auto rows = static_cast<float>(std::clamp<std::size_t>(found.size(), 1, kPaletteRows));
    ImGui::BeginChild("found", ImVec2(0.0F, rows * ImGui::GetTextLineHeightWithSpacing()));
    for (std::size_t row = 0; row < found.size(); ++row) {
        const Command& command = *found[row];
        const bool on = static_cast<int>(row) == ui.palette_row;
        ImGui::PushID(command.id.c_str());
        const std::string why = why_disabled(command);
        ImGui::BeginDisabled(!why.empty());
        if (ImGui::Selectable(fmt::format("{}: {}", command.group, command.title).c_str(), on)) {
            chosen = &command;
        }
        ImGui::EndDisabled();
        ui.probes.item("palette." + command.id, on ? "on" : "off");
        tip(why);
        if (on && moved) {
            ImGui::SetScrollHereY();
        }
        const std::string keys = shown_keys(command);
        ImGui::SameLine(ImGui::GetWindowWidth() - ImGui::CalcTextSize(keys.c_str()).x - 2.0F * ui.em());
        ImGui::TextDisabled("%s", keys.c_str());
        ImGui::PopID();
    }
    ImGui::EndChild();
    ui.probes.value("palette.found", std::to_string(found.size()));
    if (chosen != nullptr) {
        ui.overlay = Overlay::None;
        perform(ui, *chosen);
    }
}

void about(Interface& ui) {
    ui.remark("The Transformer of \u201CAttention Is All You Need\u201D on every GPU, with heads you can see.");
    for (const std::string& line : about_lines(ui.window.gpu())) {
        ImGui::TextUnformatted(line.c_str());
    }
    if (ui.button("about.copy", "Copy", "For a bug report")) {
        std::string all;
        for (const std::string& line : about_lines(ui.window.gpu())) {
            all += line + "\n";
        }
        ImGui::SetClipboardText(all.c_str());
    }
}

void settings(Interface& ui) {
    ViewerSettings& kept = ui.session.settings();
    ui.heading("Theme");
    auto theme = static_cast<int>(kept.theme);
    if (ui.segmented("theme", theme, {"System", "Light", "Dark"})) {
        kept.theme = static_cast<Theme>(theme);
        ui.window.request_fonts();
    }
    ui.heading("Text size");
    int percent = static_cast<int>(std::lround(kept.scale * 100.0));
    if (ui.stepper("scale", fmt::format("{} %", percent), percent, static_cast<int>(100.0 * kSmallestScale),
                   static_cast<int>(100.0 * kLargestScale))) {
        const double by = percent > std::lround(kept.scale * 100.0) ? 0.1 : -0.1;
        kept.scale = std::clamp(std::round((kept.scale + by) * 10.0) / 10.0, kSmallestScale, kLargestScale);
        ui.window.request_fonts();
    }
    ui.heading("Colours of heads in a new view");
    ui.choice("new.palette", kept.palette, {"Paper", "Okabe-Ito"});
    ui.remark("Okabe-Ito is safe for the common forms of colour blindness.");
}

struct Content {
    const char* title;
    void (*show)(Interface&);
};

Content content_of(Overlay overlay) {
    switch (overlay) {
        case Overlay::None: break;
        case Overlay::Tour: return {"Tour", show_tour};
        case Overlay::Explained: return {"What am I looking at?", explained};
        case Overlay::Help: return {"Keys", help};
        case Overlay::Glossary: return {"Glossary", glossary};
        case Overlay::Palette: return {"Commands", palette};
        case Overlay::About: return {"About Headscope", about};
        case Overlay::Settings: return {"Settings", settings};
        case Overlay::Export: return {"Export this panel", show_export};
        case Overlay::Open: return {"Open", show_open};
        case Overlay::SaveView: return {"Save this view", show_save_view};
    }
    return {"", nullptr};
}

}  // namespace

bool take_key(Interface& ui, const Chord& chord) {
    if (ui.overlay != Overlay::Palette && ui.overlay != Overlay::Help && ui.overlay != Overlay::Glossary) {
        return false;
    }
    const auto step = [&](const char* forwards, const char* back) {
        return static_cast<int>(chord == parse_chord(forwards)) - static_cast<int>(chord == parse_chord(back));
    };
    const int rows = step("Down", "Up");
    const int pages = step("PageDown", "PageUp");
    ui.overlay_rows += rows;
    ui.overlay_pages += pages;
    return rows != 0 || pages != 0;
}

void show_overlays(Interface& ui) {
    const Content content = content_of(ui.overlay);
    if (content.show == nullptr) {
        return;
    }
    const ImGuiViewport* viewport = ImGui::GetMainViewport();
    const float width = std::min(kWidth * ui.em(), 0.92F * viewport->WorkSize.x);
    const bool tall = ui.overlay == Overlay::Help || ui.overlay == Overlay::Glossary || ui.overlay == Overlay::Open;
    const float height = tall ? 0.86F * viewport->WorkSize.y : 0.0F;
    const bool low = ui.overlay == Overlay::Tour;  // it points at what is above
    ImGui::SetNextWindowPos(ImVec2(viewport->WorkPos.x + 0.5F * viewport->WorkSize.x,
                                   viewport->WorkPos.y + (low ? 0.93F : 0.07F) * viewport->WorkSize.y),
                            ImGuiCond_Always, ImVec2(0.5F, low ? 1.0F : 0.0F));
    ImGui::SetNextWindowSize(ImVec2(width, height));
    ImGui::PushStyleColor(ImGuiCol_WindowBg, ImGui::GetStyle().Colors[ImGuiCol_PopupBg]);
    ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, ui.scale());
    ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, 6.0F * ui.scale());
    bool open = true;
    if (ui.overlay_opened) {
        ImGui::SetNextWindowFocus();
    }
    ImGui::Begin(content.title, &open,
                 ImGuiWindowFlags_NoCollapse | ImGuiWindowFlags_NoResize | ImGuiWindowFlags_NoMove |
                     ImGuiWindowFlags_NoSavedSettings);
    ui.focus.stay_here();
    content.show(ui);
    ui.probes.value("overlay", content.title);
    ImGui::End();
    ImGui::PopStyleVar(2);
    ImGui::PopStyleColor();
    ui.overlay_opened = false;
    if (!open) {
        ui.overlay = Overlay::None;
    }
}

}  // namespace headscope::viewer
