// Panels as files.
#pragma once

#include <string>

#include "viewer/session/scene.h"

namespace headscope::viewer {

// By the file's ending: .svg, .png, .json, .tsv (of the matrix). Error for another one, and for what cannot be written.
void export_panel_to(const Scene& scene, PanelId panel, const std::string& path, double png_scale = 3.0);

}  // namespace headscope::viewer
