// What `headscope view` is told: read by the program itself, and by the one that opens the window.
#pragma once

#include <optional>
#include <string>

#include "backend/precision.h"
#include "support/settings.h"
#include "viewer/session/state_file.h"

namespace CLI {
class App;
}

namespace headscope {

struct ViewOptions {
    std::string path;  // a saved view, or a folder as --model
    std::string model;
    std::string device;
    std::optional<std::string> text;
    std::string target;
    std::string open;
    std::string panel;
    std::string render;
    std::string script;
    std::string record;
    Precision precision = Precision::F32;
    double scale = 3.0;
};

void add_view_options(CLI::App& command, ViewOptions& options);

// What the command line says, over the saved view, over what a first start shows.
viewer::SavedView view_of(const ViewOptions& options, const Settings& settings);

}  // namespace headscope
