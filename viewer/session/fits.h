// What means something for the open model.
#pragma once

#include <string>

#include "viewer/session/scene.h"

namespace headscope::viewer {

constexpr const char* kMixesOtherwise = "This model has no attention: its layers mix tokens in other ways.";
constexpr const char* kWritesNoTrees =
    "This model does not write trees: open one that was trained on linearised trees.";

// Why what shows attention, or what is behind a single pass, means nothing for the open model; empty if it does.
std::string no_attention(const Scene& scene);
std::string no_single_pass(const Scene& scene);
// Why the panel does, so that the window does not offer it. A saved view may ask for it all the same.
std::string unfit(const Scene& scene, PanelId panel);
// The state's panel, or another if that one means nothing.
PanelId fitting_panel(const Scene& scene);

}  // namespace headscope::viewer
