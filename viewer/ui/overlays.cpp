// Dialogs over the panels: help, the command palette, settings, files, models.
#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <imgui.h>
#include <imgui_stdlib.h>

#include "viewer/draw/theme.h"
#include "viewer/panels/export.h"
#include "viewer/session/wording.h"
#include "viewer/ui/about.h"
#include "viewer/ui/interface.h"
#include "viewer/ui/widgets.h"

namespace headscope::viewer {

namespace {

constexpr float kWidth = 38.0F;  // in text sizes
constexpr std::size_t kPaletteRows = 14;

// "Ctrl+Y or Ctrl+Shift+Z"
std::string readable(const std::string& keys) {
    const std::size_t space = keys.find(' ');
    return space == std::string::npos ? keys : keys.substr(0, space) + " or " + keys.substr(space + 1);
}

void help(Interface& ui) {
    std::string group;
    if (!ImGui::BeginTable("keys", 2, ImGuiTableFlags_ScrollY, ImVec2(0.0F, -2.6F * ui.em()))) {
        return;
    }
    ImGui::TableSetupColumn("what", ImGuiTableColumnFlags_WidthStretch, 3.0F);
    ImGui::TableSetupColumn("keys", ImGuiTableColumnFlags_WidthStretch, 2.0F);
    if (const float pages = std::exchange(ui.pages, 0.0F); pages != 0.0F) {
        ImGui::SetScrollY(ImGui::GetScrollY() + 0.8F * pages * ImGui::GetWindowHeight());
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
        ImGui::TextDisabled("%s", readable(command.keys).c_str());
    }
    ImGui::EndTable();
    ui.remark("Ctrl+wheel zooms, the middle button drags. Ctrl+P finds all commands, also those without a key.");
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
    const bool moved = ui.palette_steps != 0;
    ui.palette_row += std::exchange(ui.palette_steps, 0);
    ui.palette_row = std::clamp(ui.palette_row, 0, std::max(static_cast<int>(found.size()) - 1, 0));
    const Command* chosen = entered && !found.empty() ? found[static_cast<std::size_t>(ui.palette_row)] : nullptr;
    const auto rows = static_cast<float>(std::clamp<std::size_t>(found.size(), 1, kPaletteRows));
    ImGui::BeginChild("found", ImVec2(0.0F, rows * ImGui::GetTextLineHeightWithSpacing()));
    for (std::size_t row = 0; row < found.size(); ++row) {
        const Command& command = *found[row];
        const bool on = static_cast<int>(row) == ui.palette_row;
        ImGui::PushID(command.id.c_str());
        if (ImGui::Selectable(fmt::format("{}: {}", command.group, command.title).c_str(), on)) {
            chosen = &command;
        }
        ui.probes.item("palette." + command.id, on ? "on" : "off");
        if (on && moved) {
            ImGui::SetScrollHereY();
        }
        const std::string keys = readable(command.keys);
        ImGui::SameLine(ImGui::GetWindowWidth() - ImGui::CalcTextSize(keys.c_str()).x - 2.0F * ui.em());
        ImGui::TextDisabled("%s", keys.c_str());
        ImGui::PopID();
    }
    ImGui::EndChild();
    ui.probes.value("palette.found", std::to_string(found.size()));
    if (chosen != nullptr) {
        ui.overlay = Overlay::None;
        chosen->run();
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
    int theme = kept.dark ? 1 : 0;
    if (ui.segmented("theme", theme, {"Light", "Dark"})) {
        kept.dark = theme == 1;
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

void models(Interface& ui) {
    if (ui.overlay_opened) {
        ui.path = ui.session.model_path();
        ui.typed_device = ui.session.device();
    }
    ui.heading("A model, also of another program, or the folder of a training");
    const bool go = text_field(ui, "model.path", "such as assets/models/en-de", ui.path, ui.overlay_opened);
    for (const std::string& recent : ui.session.settings().recent_models) {
        if (text_row(recent, recent, false, 0.0F)) {
            ui.path = recent;
        }
    }
    ui.remark("A folder or a file can be dropped on the window as well.");
    ui.heading("Device");
    device_combo(ui, "model.device", ui.typed_device);
    if (ui.button("model.open", "Open", "", !ui.path.empty()) || (go && !ui.path.empty())) {
        ui.session.open(ui.path, ui.typed_device);
        ui.overlay = Overlay::None;
    }
}

// A file name that does not exist in the working directory.
std::string unused_name(const std::string& stem, const std::string& ending) {
    std::error_code failed;
    std::string name = stem + ending;
    for (int number = 2; std::filesystem::exists(name, failed); ++number) {
        name = fmt::format("{}-{}{}", stem, number, ending);
    }
    return name;
}

void export_panel(Interface& ui) {
    if (ui.overlay_opened) {
        ui.path = unused_name(name_of(ui.state().panel), ".svg");
    }
    ui.heading(fmt::format("{} as a file", title_of(ui.state().panel, family_of(ui.session.scene()))));
    const bool entered =
        text_field(ui, "export.path", "a file that ends in .svg, .png or .json", ui.path, ui.overlay_opened);
    ui.remark(
        "SVG: for papers and pages. PNG: a picture. JSON: the numbers. Drawn light, whatever the window's theme is.");
    if (ui.path.ends_with(".png")) {
        ui.stepper("export.scale", fmt::format("{} times as large as the SVG", ui.png_scale), ui.png_scale, 1, 12);
    }
    if (ui.button("export.save", "Save", "", !ui.path.empty()) || (entered && !ui.path.empty())) {
        try {
            ui.session.refuse_models(ui.path);
            export_panel_to(ui.session.scene(), ui.state().panel, ui.path, ui.png_scale);
            ui.session.notify("Saved " + ui.path);
            ui.overlay = Overlay::None;
        } catch (const Error& error) {
            ui.session.report_error(error.what());
        }
    }
}

void view_file(Interface& ui, bool save) {
    if (ui.overlay_opened) {
        ui.path = save ? unused_name("view", ".headscope") : "view.headscope";
    }
    ui.heading(save ? "Save the current view" : "Open a saved view");
    const bool entered = text_field(ui, "view.path", "a file", ui.path, ui.overlay_opened);
    ui.remark(
        "A small file with the sentence, the edits and all choices. It names the model, but does not contain it.");
    if (ui.button("view.go", save ? "Save" : "Open", "", !ui.path.empty()) || (entered && !ui.path.empty())) {
        ui.overlay = Overlay::None;
        if (save) {
            ui.session.save_view(ui.path);
        } else {
            ui.session.open_view(ui.path);
        }
    }
}

struct Content {
    const char* title;
    void (*show)(Interface&);
};

Content content_of(Overlay overlay) {
    switch (overlay) {
        case Overlay::None: break;
        case Overlay::Help: return {"Keys", help};
        case Overlay::Palette: return {"Commands", palette};
        case Overlay::About: return {"About Headscope", about};
        case Overlay::Settings: return {"Settings", settings};
        case Overlay::Export: return {"Save this panel", export_panel};
        case Overlay::Models: return {"Open a model", models};
        case Overlay::SaveView: return {"Save this view", [](Interface& ui) { view_file(ui, true); }};
        case Overlay::OpenView: return {"Open a view", [](Interface& ui) { view_file(ui, false); }};
    }
    return {"", nullptr};
}

}  // namespace

void show_overlays(Interface& ui) {
    const Content content = content_of(ui.overlay);
    if (content.show == nullptr) {
        return;
    }
    const ImGuiViewport* viewport = ImGui::GetMainViewport();
    const float width = std::min(kWidth * ui.em(), 0.92F * viewport->WorkSize.x);
    const float height = ui.overlay == Overlay::Help ? 0.86F * viewport->WorkSize.y : 0.0F;
    ImGui::SetNextWindowPos(
        ImVec2(viewport->WorkPos.x + 0.5F * viewport->WorkSize.x, viewport->WorkPos.y + 0.07F * viewport->WorkSize.y),
        ImGuiCond_Always, ImVec2(0.5F, 0.0F));
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
                     ImGuiWindowFlags_NoSavedSettings
#ifdef IMGUI_HAS_DOCK
                     | ImGuiWindowFlags_NoDocking
#endif
    );
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
