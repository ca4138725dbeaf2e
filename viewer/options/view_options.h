// The options of `headscope view`. Two programs read them: headscope, and headscope-viewer, which opens the window.
#pragma once

#include <optional>
#include <string>

#include "infer/decoding_choices.h"
#include "options/common_options.h"
#include "viewer/session/state_file.h"

namespace headscope {

struct ViewOptions {
    CommonOptions common = {};
    std::string path;  // a saved view, or a folder like --model
    std::optional<std::string> text;
    std::string picture;
    std::string target;
    bool chat = false;
    DecodingChoices languages;
    std::string open;
    std::string panel;
    std::string render;
    std::string script;
    double scale = 3.0;
};

void add_view_options(CLI::App& command, ViewOptions& options);

// The view to start with: the options override the saved view, which overrides the defaults.
viewer::SavedView view_of(const ViewOptions& options);

}  // namespace headscope
