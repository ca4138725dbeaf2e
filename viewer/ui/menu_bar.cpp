// The menu bar: the groups of commands, each as a menu or as a submenu.
#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <imgui.h>

#include "viewer/ui/interface.h"
#include "viewer/ui/widgets.h"

namespace headscope::viewer {

namespace {

constexpr std::array<std::string_view, 6> kMenus{"File", "Edit", "View", "Panels", "Attention", "Help"};

// The menu that has the group as a submenu, or is the group's; empty for keys alone. What belongs to one panel is
// found with the panels.
std::string_view menu_of(std::string_view group) {
    if (std::find(kMenus.begin(), kMenus.end(), group) != kMenus.end()) {
        return group;
    }
    return group == "Heads" ? "Attention" : group == "Examples" ? "Help" : group == "Keyboard" ? "" : "Panels";
}

void recent_menu(Interface& ui, std::string& opened) {
    if (ImGui::IsWindowAppearing()) {
        ui.recent = recent_places(ui.session.settings());
    }
    const bool shown = ImGui::BeginMenu("Open recent", !ui.recent.empty());
    for (std::size_t i = 0; shown && i < ui.recent.size(); ++i) {
        if (ImGui::MenuItem(fmt::format("{}##{}", ui.recent[i].name, i).c_str())) {
            opened = ui.recent[i].path;
        }
        ui.probes.item(fmt::format("menu.recent.{}", i));
    }
    if (shown) {
        ImGui::EndMenu();
    }
    ui.probes.item("menu.recent", ui.recent.empty() ? "off" : "on");
}

// What was chosen in this frame.
struct Choice {
    const Command* command = nullptr;
    std::string opened;
};

void show_commands(Interface& ui, std::string_view group, Choice& choice) {
    for (const Command& command : ui.commands.all()) {
        if (command.group != group) {
            continue;
        }
        if (command.apart) {
            ImGui::Separator();
        }
        const std::string why = why_disabled(command);
        if (ImGui::MenuItem((command.title + "##" + command.id).c_str(), shown_keys(command).c_str(), false,
                            why.empty())) {
            choice.command = &command;
        }
        ui.probes.item("menu." + command.id, why.empty() ? "on" : why);
        tip(why);
        if (command.id == "open") {
            recent_menu(ui, choice.opened);
        }
    }
}

void show_submenus(Interface& ui, std::string_view menu, Choice& choice) {
    std::string before;
    bool first = true;
    for (const Command& command : ui.commands.all()) {
        const bool begins = command.group != before && command.group != menu && menu_of(command.group) == menu;
        before = command.group;
        if (!begins) {
            continue;
        }
        if (std::exchange(first, false)) {
            ImGui::Separator();
        }
        if (ImGui::BeginMenu((command.group + "##group").c_str())) {
            show_commands(ui, command.group, choice);
            ImGui::EndMenu();
        }
        ui.probes.item("menu." + command.group);
    }
}

}  // namespace

void show_menu_bar(Interface& ui) {
    if (!ImGui::BeginMenuBar()) {
        return;
    }
    Choice choice;
    for (const std::string_view menu : kMenus) {
        const std::string name(menu);
        if (ImGui::BeginMenu(name.c_str())) {
            show_commands(ui, menu, choice);
            show_submenus(ui, menu, choice);
            ImGui::EndMenu();
        }
        ui.probes.item("menu." + name);
    }
    ImGui::EndMenuBar();
    if (choice.command != nullptr) {
        perform(ui, *choice.command);
    }
    if (!choice.opened.empty()) {
        ui.session.open(choice.opened, ui.session.device());
    }
}

}  // namespace headscope::viewer
