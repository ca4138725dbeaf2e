// Parts that several panels draw, and what they have to draw.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "figures/figure.h"
#include "figures/patch_map.h"
#include "observe/selection.h"
#include "paint/sketch.h"
#include "trees/linearised.h"
#include "viewer/panels/panel.h"

namespace headscope::viewer {

Look look_of(const PanelOptions& options);
FigureOptions figure_options(const Scene& scene, const PanelOptions& options);
// Wrapped text, large and small.
Drawing draw_heading(const std::string& text, const PanelOptions& options);
Drawing draw_remark(const std::string& text, const PanelOptions& options);
// Such attention of a side as the paper's figure or, over the patches of a picture, on the picture.
Drawing draw_selected(const Scene& scene, const Side& side, const SelectedAttention& selected, AttentionKind kind,
                      const PanelOptions& options);
// Its map on the picture.
PatchMap map_of(const Side& side, const SelectedAttention& selected, AttentionKind kind, const PanelOptions& options);
// A map's tooltips are stored, since the weights of several heads or words are not in Panel::contents.
Drawing draw_map_of_patches(const PatchMap& map, const PanelOptions& options);
// That of the state's selection; or why there is none.
Drawing draw_attention(const Scene& scene, const Side& side, const PanelOptions& options);

// Why a side has nothing to show; empty if it has something.
std::string nothing_there(const Side& side);
bool recorded(const AttentionRecord& record, const AttentionSite& site);
// Why a side that has something to show lacks the selected attention; empty if it does not.
std::string missing_attention(const Scene& scene, const Side& side);
// Why panels that show attention and nothing else have nothing to show.
std::string missing_figure(const Scene& scene);

// The part of a record that the state selects.
AttentionSelection selection_of(const Scene& scene, const AttentionRecord& record);
// The same for another attention kind.
AttentionSelection selection_of(const Scene& scene, const AttentionRecord& record, AttentionKind kind);
// The same with the word under the pointer or else the selected word, if the row has that many.
AttentionSelection word_selection_of(const Scene& scene, const AttentionRecord& record);
// What the figure shows of the main side, as Panel::contents.
std::vector<SelectedAttention> figure_contents(const Scene& scene);
// A finished record is shown whatever is typed meanwhile.
void forget_input(const Scene& scene, ViewState& state);

// Whether the Time panel shows what may fill the gaps of a span model's text, in place of the tokens written.
bool shows_gaps(const Scene& scene);
// What that panel goes through: gaps, or steps of the decoding, which may be masks. How many there are, and the one
// that the state selects; -1: there is none yet.
int count_of_steps(const Scene& scene);
int chosen_step(const Scene& scene);
// The step of the decoding that is selected, also by its gap: the first token in the gap. -1: there is none yet.
int shown_step(const Scene& scene);
// The attention that predicts that step's piece: of a translation model its cross-attention. Empty if there is none
// yet.
std::optional<AttentionSelection> step_selection(const Scene& scene);
// The same as Panel::contents.
std::vector<SelectedAttention> step_contents(const Scene& scene);

// Whether Side::shown and Side::original are results for the current state.
bool edits_answered(const Scene& scene);
bool original_answered(const Scene& scene);

// The attention of the selected word; empty until the worker has reported the products behind it.
struct NeuronRow {
    int query = 0;               // a token
    int chosen = -1;             // the selected key, a token; -1: none
    std::vector<float> weights;  // of all keys
};
std::optional<NeuronRow> neuron_row(const Scene& scene);
// The products behind the selected word's row; empty if there is none.
Drawing draw_neuron(const Scene& scene, const PanelOptions& options);
// The record that the matrix panel draws: the model's, a mean or the rollout.
AttentionRecord matrix_record(const Scene& scene, const AttentionRecord& record);

// The folder of a trial of this row of the experiment: the first, or the one after the trial that is open. Empty if
// none was started.
std::string trial_after(const Scene& scene, std::size_t row);

// What a parser wrote.
struct WrittenTree {
    Restored restored;
    // For each constituent and leaf, in the order of the written tree, the step that opened it or stands for it. Empty
    // after repairs.
    std::vector<int> steps = {};
    std::vector<int> nodes = {};  // for each step the constituent or leaf that it opens, closes or stands for; or -1
    std::string problem = {};     // why there is no tree; empty if there is one
};
WrittenTree written_tree(const Scene& scene);

}  // namespace headscope::viewer
