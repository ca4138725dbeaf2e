// The dialogs of files: open a model or a view, export a panel, save the view.
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <imgui.h>

#include "paint/picture_file.h"
#include "support/check.h"
#include "viewer/draw/theme.h"
#include "viewer/panels/export.h"
#include "viewer/session/session_paths.h"
#include "viewer/session/wording.h"
#include "viewer/ui/interface.h"
#include "viewer/ui/widgets.h"

namespace headscope::viewer {

namespace {

namespace fs = std::filesystem;

void list_folder(Interface& ui, const std::string& folder) {
    ui.folder = absolute_path(folder);
    ui.places = places_in(ui.folder, reading_of(ui.session.scene()).pictures);
}

void open_here(Interface& ui, const std::string& path) {
    ui.path = path;
    ui.session.open(path, ui.typed_device);
    ui.opens_path = true;
}

// The dialog stays until the model is open, and if it cannot be opened.
void close_when_open(Interface& ui) {
    if (!ui.opens_path) {
        return;
    }
    if (ui.session.refused().has_value()) {
        ui.opens_path = false;
        ui.focus_path = true;
    } else if (ui.session.opening()) {
        ui.remark("Opening \u2026", "model.opening");
    } else {
        ui.opens_path = false;
        ui.overlay = Overlay::None;
    }
}

// Why the path in the field could not be opened.
void show_refusal(Interface& ui) {
    const std::optional<Session::Refused>& refused = ui.session.refused();
    if (!refused.has_value()) {
        return;
    }
    ui.fonts.need(refused->why);
    ImGui::PushStyleColor(ImGuiCol_Text, to_vec4(ui.ink().warning));
    ImGui::PushTextWrapPos(0.0F);
    ImGui::TextUnformatted(refused->why.c_str());
    ImGui::PopTextWrapPos();
    ImGui::PopStyleColor();
    ui.probes.item("model.problem", refused->why);
}

std::string label_of(const FilePlace& place) {
    return place.kind == FilePlaceKind::Folder ? place.name + "/" : place.name;
}

// A row for each place; a click opens a model or a view, and lists a folder.
void offer_places(Interface& ui, const char* name, const std::vector<FilePlace>& places) {
    std::string listed;
    for (std::size_t i = 0; i < places.size(); ++i) {
        const FilePlace& place = places[i];
        const bool opens = place.kind != FilePlaceKind::Parent && place.kind != FilePlaceKind::Folder;
        ImGui::PushStyleColor(ImGuiCol_Text, to_vec4(opens ? ui.ink().text : ui.ink().faint));
        const std::string id = fmt::format("{}.{}", name, i);
        if (text_row(id, label_of(place), ui.path == place.path, 0.0F)) {
            if (opens) {
                open_here(ui, place.path);
            } else {
                ui.path = listed = place.path;
            }
        }
        ImGui::PopStyleColor();
        ui.probes.item(id, label_of(place));
        tip(place.path);
    }
    if (!listed.empty()) {
        list_folder(ui, listed);
    }
}

// A file name that does not exist in the folder.
std::string unused_name(const fs::path& folder, const std::string& stem, const std::string& ending) {
    std::error_code failed;
    fs::path path = folder / (stem + ending);
    for (int number = 2; fs::exists(path, failed); ++number) {
        path = folder / fmt::format("{}-{}{}", stem, number, ending);
    }
    return path.string();
}

// The folder that was last saved to, or the working directory.
fs::path folder_for_files(const Interface& ui) {
    return ui.saved_to.empty() ? fs::path() : fs::path(ui.saved_to);
}

// Beside which the dialog opens: the picture, if there is one, or else the model.
const std::string& shown_beside(const Interface& ui) {
    const bool picture = reading_of(ui.session.scene()).pictures && !ui.state().text.empty();
    return picture ? ui.state().text : ui.session.model_path();
}

// A field for a path and a button; true if either was used.
bool path_and_button(Interface& ui, const char* field, const char* hint, const char* button, const char* label) {
    const bool focus = std::exchange(ui.focus_path, false) || ui.overlay_opened;
    const bool entered = text_field(ui, field, hint, ui.path, focus);
    const bool pressed = ui.button(button, label, "", !ui.path.empty());
    return (entered || pressed) && !ui.path.empty();
}

}  // namespace

void show_open(Interface& ui) {
    if (ui.overlay_opened) {
        const std::optional<Session::Refused>& refused = ui.session.refused();
        ui.path = refused.has_value() ? refused->path : "";
        ui.opens_path = false;
        ui.typed_device = ui.session.device();
        ui.bundled = bundled_places(ui.session.search_path());
        ui.recent = recent_places(ui.session.settings());
        const std::string near = absolute_path(shown_beside(ui));
        list_folder(ui, ui.folder.empty() ? fs::path(near).parent_path().string() : ui.folder);
    }
    const bool pictures = reading_of(ui.session.scene()).pictures;
    ui.remark(
        fmt::format("A model, also of another program, the folder of a training or an experiment, {}a saved view.",
                    pictures ? "a picture, or " : "or "));
    if (path_and_button(ui, "model.path", "a name such as en-causal, or a path", "model.open", "Open")) {
        open_here(ui, ui.path);
    }
    close_when_open(ui);
    show_refusal(ui);
    ui.heading("Device");
    device_combo(ui, "model.device", ui.typed_device);
    ImGui::BeginChild("offers");
    ui.heading("Models that come with Headscope");
    offer_places(ui, "bundled", ui.bundled);
    if (!ui.recent.empty()) {
        ui.heading("Opened before");
        offer_places(ui, "recent", ui.recent);
    }
    ui.heading(ui.folder);
    offer_places(ui, "place", ui.places);
    ui.remark(fmt::format("{} open by a click. They can be dropped on the window as well.",
                          pictures ? "Models, pictures and views" : "Models and views"));
    ImGui::EndChild();
}

void show_export(Interface& ui) {
    if (ui.overlay_opened) {
        ui.path = unused_name(folder_for_files(ui), name_of(ui.state().panel), ".svg");
    }
    ui.heading(fmt::format("{} as a file", title_of(ui.state().panel, reading_of(ui.session.scene()))));
    const bool go = path_and_button(ui, "export.path", ("a file that ends in " + picture_names(".json")).c_str(),
                                    "export.save", "Save");
    ui.remark(
        "SVG: for pages. PDF: for papers. PNG: a picture. HTML: a page that answers the pointer, to send. JSON: the "
        "numbers. Drawn light, whatever the window's theme is.");
    if (ui.path.ends_with(".png")) {
        ui.stepper("export.scale", fmt::format("{} times as large as the SVG", ui.png_scale), ui.png_scale, 1, 12);
    }
    if (!go) {
        return;
    }
    try {
        ui.session.refuse_models(ui.path);
        export_panel_to(ui.session.scene(), ui.state().panel, ui.path, ui.png_scale);
        ui.session.notify("Saved " + absolute_path(ui.path));
        ui.saved_to = fs::path(ui.path).parent_path().string();
        ui.overlay = Overlay::None;
    } catch (const Error& error) {
        ui.session.report_error(error.what());
    }
}

void show_save_view(Interface& ui) {
    if (ui.overlay_opened) {
        ui.path = unused_name(folder_for_files(ui), "view", ".headscope");
    }
    const bool go = path_and_button(ui, "view.path", "a file that ends in .headscope", "view.go", "Save");
    ui.remark(
        "A small file with the sentence, the edits and all choices. It names the model, but does not contain it.");
    if (go) {
        ui.overlay = Overlay::None;
        ui.path += is_view_file(ui.path) ? "" : ".headscope";  // by which it is recognised when it is opened
        ui.saved_to = fs::path(ui.path).parent_path().string();
        ui.session.save_view(ui.path);
    }
}

}  // namespace headscope::viewer
