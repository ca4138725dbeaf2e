// What a person looks at and how: plain data. Two equal states show the same view; undo, files and scripts rest on
// that.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "explore/exploration.h"
#include "figures/all_heads.h"
#include "paint/palette.h"

namespace headscope::viewer {

enum class PanelId : std::uint8_t { Figure, Heads, Matrix, Time, Surgery, Model, Compare, Training };
constexpr int kPanels = 8;
const char* name_of(PanelId panel);   // "figure", as in files
const char* title_of(PanelId panel);  // "Figure", as people read it
// Error names the panels for anything else.
PanelId parse_panel(const std::string& name);

// Which end of the lines a chosen word is.
enum class Direction : std::uint8_t { From, To };

// How the weights of several heads or layers are made one matrix.
enum class MatrixView : std::uint8_t { Head, HeadMean, LayerMean, Rollout };

struct ViewState {
    // What the model is asked.
    std::string text;
    std::optional<std::string> target = {};  // the user's own translation
    int beam = 4;
    double length_penalty = 0.6;
    std::vector<AttentionEdit> edits = {};

    // What is shown of the answer.
    PanelId panel = PanelId::Figure;
    AttentionKind kind = AttentionKind::EncoderSelf;
    int layer = 5;                // from 1; a model that has fewer shows its last
    std::vector<int> heads = {};  // that are on, from 1; empty: all
    int word = -1;                // the chosen column, from 0; -1: none
    Direction direction = Direction::From;
    int key = -1;  // the other word of a pair, for the neuron view
    bool overview = false;
    bool join_words = true;
    bool show_special = true;
    Palette palette = Palette::Paper;
    HeadOrder order = HeadOrder::Model;
    bool small_figures = false;  // all heads as figures, not as matrices
    MatrixView matrix = MatrixView::Head;
    bool logarithmic = false;
    int step = -1;  // of the decoding; -1: the last
    bool show_fallen = false;
    std::optional<std::int64_t> checkpoint = {};
    std::string block = {};  // of the model's map: how the names of its parameters begin; empty: none

    bool operator==(const ViewState&) const = default;
};

// The heads that are on, of so many; those that the model lacks are left out.
std::vector<int> active_heads(const ViewState& state, int model_heads);
// The layer shown of so many.
int shown_layer(const ViewState& state, int layers);

// What the model has to compute anew when it changes.
ExploreRequest request_of(const ViewState& state);
ExploreRequest without_edits(ExploreRequest request);

// Another sentence: what was said of the tokens of the one before, that is chosen words, the step, the translation
// given, and edits that name tokens, does not outlive it. Edits of whole heads do. The same text changes nothing.
void new_sentence(ViewState& state, const std::string& text);

}  // namespace headscope::viewer
