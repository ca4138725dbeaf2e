// headscope view: shows every head, live, in a window, or renders the same pictures to files.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
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

// The window is a separate program, so that this one does not need the libraries of a display or Vulkan. It is in the
// same folder, or in ../libexec/headscope if installed.
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
        fmt::format("the window is a separate program, and neither {} nor {} exists: it is built if Dear "
                    "ImGui, GLFW and Vulkan are installed (libimgui-dev, libglfw3-dev, libvulkan-dev). "
                    "`headscope view --render FILE` draws the same panels without it",
                    places[0].string(), places[1].string()));
}

// Replaces this process by the window program.
[[noreturn]] void exec_window_program(const std::vector<std::string>& arguments) {
    const std::string program = window_program();
    std::vector<char*> argv{const_cast<char*>(program.c_str())};  // NOLINT: execv does not write
    for (const std::string& argument : arguments) {
        argv.push_back(const_cast<char*>(argument.c_str()));  // NOLINT
    }
    argv.push_back(nullptr);
    ::execv(program.c_str(), argv.data());
    throw Error(fmt::format("{} could not be started: {}", program, std::strerror(errno)));
}

// The words of this process's command line without the program and "view".
std::vector<std::string> view_arguments(int count, const char* const* words) {
    std::vector<std::string> arguments(words + std::min(count, 1), words + count);
    if (const auto view = std::find(arguments.begin(), arguments.end(), "view"); view != arguments.end()) {
        arguments.erase(view);
    }
    return arguments;
}

}  // namespace

void add_view_command(CLI::App& app, const OpenOptions& open_options, int count, const char* const* words) {
    auto options = std::make_shared<ViewOptions>();
    options->common.open = open_options;
    CLI::App* command = app.add_subcommand("view", "Look at every head, live, in a window")->group("Look");
    add_view_options(*command, *options);
    command->callback([options, arguments = view_arguments(count, words)] {
        viewer::SavedView view = view_of(*options);  // reports errors before a window opens
        if (options->render.empty()) {
            exec_window_program(arguments);
        }
        const auto warn = [](const std::string& message) { log_line("headscope: " + message); };
        for (const std::string& note : std::exchange(view.notes, {})) {
            warn("the view: " + note);
        }
        const CommonOptions& common = options->common;
        viewer::render(
            view, common.precision, options->render, options->scale,
            [&common](const std::string& id) { return open_device(id, common.open); }, common.search_path, warn);
    });
}

}  // namespace headscope
