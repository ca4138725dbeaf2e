// headscope view: every head, live, in a window; or the same pictures without one.
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "registry/registry.h"
#include "support/check.h"
#include "viewer/options/view_options.h"
#include "viewer/panels/render.h"

namespace headscope {
namespace {

namespace fs = std::filesystem;

constexpr const char* kWindowProgram = "headscope-viewer";

// The program with the window is one of its own, so that this one needs neither a display's libraries nor Vulkan's: it
// lies beside this one, or in ../libexec/headscope where that is installed.
std::string window_program() {
    std::error_code failure;
    const fs::path folder = fs::read_symlink("/proc/self/exe", failure).parent_path();
    const std::vector<fs::path> places{folder / kWindowProgram,
                                       folder.parent_path() / "libexec" / "headscope" / kWindowProgram};
    for (const fs::path& place : places) {
        if (fs::is_regular_file(place, failure)) {
            return place.string();
        }
    }
    throw Error(
        fmt::format("the window is a program of its own, and there is no {} or {}: it is built where Dear "
                    "ImGui, GLFW and Vulkan are found (libimgui-dev, libglfw3-dev, libvulkan-dev). "
                    "`headscope view --render FILE` draws the same panels without it",
                    places[0].string(), places[1].string()));
}

// In place of this process, with what this one was told.
[[noreturn]] void become_window_program(const std::vector<std::string>& told) {
    const std::string program = window_program();
    std::vector<char*> arguments{const_cast<char*>(program.c_str())};  // NOLINT: execv does not write
    for (const std::string& argument : told) {
        arguments.push_back(const_cast<char*>(argument.c_str()));  // NOLINT
    }
    arguments.push_back(nullptr);
    ::execv(program.c_str(), arguments.data());
    throw Error(fmt::format("{} could not be started: {}", program, std::strerror(errno)));
}

// What follows "view" on this process' command line.
std::vector<std::string> told_to_view(int count, const char* const* words) {
    std::vector<std::string> told;
    bool behind = false;
    for (int at = 1; at < count; ++at) {
        if (behind) {
            told.emplace_back(words[at]);
        }
        behind = behind || std::string(words[at]) == "view";
    }
    return told;
}

}  // namespace

void add_view_command(CLI::App& app, const OpenOptions& open_options, int count, const char* const* words) {
    auto options = std::make_shared<ViewOptions>();
    CLI::App* command = app.add_subcommand("view", "Look at every head, live, in a window")->group("Look");
    add_view_options(*command, *options);
    command->callback([options, &open_options, told = told_to_view(count, words)] {
        const viewer::SavedView view = view_of(*options, open_options.settings);  // what is wrong with it is said here
        if (options->render.empty()) {
            become_window_program(told);
        }
        for (const std::string& note : view.notes) {
            tell("headscope: the view: " + note);
        }
        viewer::render(view, options->precision, options->render, options->scale,
                       [&open_options](const std::string& id) { return open_device(id, open_options); });
    });
}

}  // namespace headscope
