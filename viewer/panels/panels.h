// The panels that are made of several drawings, each in a file of its own.
#pragma once

#include "paint/sketch.h"
#include "viewer/panels/panel_drawing.h"

namespace headscope::viewer {

Look look_of(const PanelOptions& options);
// A heading and what belongs below it.
Drawing draw_heading(const std::string& text, const PanelOptions& options);
Drawing draw_remark(const std::string& text, const PanelOptions& options);
// The paper's figure of a side, with the words of the state chosen.
Drawing draw_attention(const Scene& scene, const Side& side, const PanelOptions& options);
// Why a side has nothing to show; empty when it has.
std::string nothing_there(const Side& side);
bool recorded(const AttentionRecord& record, const AttentionSite& site);
// The step of the decoding that the state means; -1: there is none yet.
int shown_step(const Scene& scene);
// The cross-attention of that step's token, piece by piece; without a value where there is none yet.
std::optional<AttentionSelection> step_selection(const Scene& scene);
// Whether what is shown, and the original beside it, are what the state asks for now.
bool edits_answered(const Scene& scene);
bool original_answered(const Scene& scene);

// The query of the chosen word and what its head made of it, where the worker has told the products behind it.
struct NeuronRow {
    int query = 0;               // a token
    int chosen = -1;             // the key of the pair that is chosen, a token; -1: none
    std::vector<float> weights;  // of all keys
};
std::optional<NeuronRow> neuron_row(const Scene& scene);
// Left minus right of the kind shown. Error says why the two sides cannot be compared.
AttentionRecord compared_record(const Scene& scene);

// The products behind the chosen word's row; empty where there is none.
Drawing draw_neuron(const Scene& scene, const PanelOptions& options);
Drawing draw_time(const Scene& scene, const PanelOptions& options);
Drawing draw_surgery(const Scene& scene, const PanelOptions& options);
Drawing draw_model(const Scene& scene, const PanelOptions& options);
Drawing draw_comparison(const Scene& scene, const PanelOptions& options);
Drawing draw_training(const Scene& scene, const PanelOptions& options);

}  // namespace headscope::viewer
