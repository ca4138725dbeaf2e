// The panels that are made of several drawings, each in a file of its own.
#pragma once

#include "viewer/app/panel_drawing.h"

namespace headscope::viewer {

Drawing draw_remark(const std::string& text, const PanelOptions& options);
Drawing draw_time(const Scene& scene, const PanelOptions& options);
Drawing draw_surgery(const Scene& scene, const PanelOptions& options);
Drawing draw_model(const Scene& scene, const PanelOptions& options);
Drawing draw_comparison(const Scene& scene, const PanelOptions& options);
Drawing draw_training(const Scene& scene, const PanelOptions& options);

}  // namespace headscope::viewer
