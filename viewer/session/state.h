// What is shown and how, as plain data. Equal states show the same view: undo, saved views and scripts rely on it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "explore/exploration.h"
#include "figures/all_heads.h"
#include "paint/palette.h"

namespace headscope::viewer {

enum class PanelId : std::uint8_t { Figure, Heads, Matrix, Time, Surgery, Model, Compare, Training, Tree };
// Their names in files and options.
constexpr std::array kPanelNames{"figure", "heads",   "matrix",   "time", "surgery",
                                 "model",  "compare", "training", "tree"};
constexpr int kPanels = static_cast<int>(kPanelNames.size());
constexpr const char* name_of(PanelId panel) {
    return kPanelNames[static_cast<std::size_t>(panel)];
}
// Error lists the panels if there is none of this name.
PanelId parse_panel(const std::string& name);

// Whether the lines shown start at the selected word or end there.
enum class Direction : std::uint8_t { From, To };

// How the weights of heads and layers are combined into a matrix.
enum class MatrixView : std::uint8_t { Head, HeadMean, LayerMean, Rollout };

constexpr int kMaxTokens = 1000;  // of a continuation

struct ViewState {
    // What the model computes.
    std::string text;
    int sentence = 0;                        // of a long text, from 0
    std::optional<std::string> target = {};  // the user's own translation
    std::string source_language = {};        // of a model that has languages; empty: its author's
    std::string target_language = {};
    int beam = 4;                 // of a translation
    double length_penalty = 0.6;  // of a translation
    int continuation_beam = 1;    // of a causal language model
    int max_tokens = 24;          // of a continuation
    std::vector<AttentionEdit> edits = {};

    // What is shown of the result.
    PanelId panel = PanelId::Figure;
    AttentionKind kind = AttentionKind::EncoderSelf;
    int layer = 5;                // from 1; a model with fewer layers shows its last
    std::vector<int> heads = {};  // visible heads, from 1; empty: all
    int word = -1;                // the selected column, from 0; -1: none
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
    std::string block = {};  // the selected block of the model: prefix of its parameters; empty: none

    bool operator==(const ViewState&) const = default;
};

// The beam of a translation or a continuation.
int& beam_of(ViewState& state, Architecture family);
// The visible heads that the model has.
std::vector<int> active_heads(const ViewState& state, int model_heads);
// The layer shown of a model with this many.
int shown_layer(const ViewState& state, int layers);

// What a model of this family has to compute for this state.
ExploreRequest request_of(const ViewState& state, Architecture family);
ExploreRequest without_edits(ExploreRequest request);

// Changes the sentence and resets what refers to tokens of the old one: selected words, the step, the given translation
// and edits of tokens. Edits of whole heads stay. The same text changes nothing.
void new_sentence(ViewState& state, const std::string& text);
// Chooses another sentence of a long text, with the same resets.
void choose_sentence(ViewState& state, int sentence);

}  // namespace headscope::viewer
