// The panels that are made of several drawings, each in a file of its own.
#pragma once

#include "drawing/sketch.h"
#include "viewer/app/panel_drawing.h"

namespace headscope::viewer {

Look look_of(const PanelOptions& options);
// A heading and what belongs below it.
Drawing draw_heading(const std::string& text, const PanelOptions& options);
Drawing draw_remark(const std::string& text, const PanelOptions& options);
// The paper's figure of a side, with the words of the state chosen.
Drawing draw_attention(const Scene& scene, const Side& side, const PanelOptions& options);
// Why a side has nothing to show; empty when it has.
std::string nothing_there(const Side& side);

// The products behind the chosen word's row, where the worker has told them; else empty.
Drawing draw_neuron(const Scene& scene, const PanelOptions& options);
Drawing draw_time(const Scene& scene, const PanelOptions& options);
Drawing draw_surgery(const Scene& scene, const PanelOptions& options);
Drawing draw_model(const Scene& scene, const PanelOptions& options);
Drawing draw_comparison(const Scene& scene, const PanelOptions& options);
Drawing draw_training(const Scene& scene, const PanelOptions& options);

}  // namespace headscope::viewer
