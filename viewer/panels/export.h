// Writes panels to files.
#pragma once

#include <string>

#include "viewer/session/scene.h"

namespace headscope::viewer {

// ".svg, .png, .pdf, .html or .json, or .tsv for the matrix"
std::string export_names();
// The extension chooses the format. Error for others and if writing fails.
void export_panel_to(const Scene& scene, PanelId panel, const std::string& path, double png_scale = 3.0);

}  // namespace headscope::viewer
