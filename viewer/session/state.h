// What is shown and how, as plain data. Equal states show the same view: undo, saved views and scripts rely on it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "explore/exploration.h"
#include "figures/all_heads.h"
#include "observe/sentence_search.h"
#include "paint/palette.h"
#include "viewer/session/conversed.h"

namespace headscope::viewer {

enum class PanelId : std::uint8_t {
    Figure,
    Heads,
    Matrix,
    Time,
    Surgery,
    Model,
    Compare,
    Training,
    Tree,
    Find,
    Saliency,
    Lens,
    Patching,
    Vectors,
    Chat
};
// Their names in files and options.
constexpr std::array kPanelNames{"figure", "heads", "matrix",   "time", "surgery",  "model",   "compare", "training",
                                 "tree",   "find",  "saliency", "lens", "patching", "vectors", "chat"};
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

// The head that the window chose because it says most of a text. Until another is chosen by hand, the window also
// chooses one for the next text.
struct ChosenHead {
    AttentionKind kind = AttentionKind::EncoderSelf;
    int layer = 0;          // from 1; 0: none was chosen yet
    int head = 0;           // 0: no head says anything; all are shown
    std::string text = {};  // as the model reads it
    bool operator==(const ChosenHead&) const = default;
};

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
    bool chat = false;            // a causal language model reads the text as a message in its chat template
    Conversed conversation = {};  // whose last message the text is, with `chat`
    std::vector<AttentionEdit> edits = {};
    std::string second = {};  // the other text, to compare with and to take values from; empty: none

    // What is shown of the result.
    PanelId panel = PanelId::Figure;
    AttentionKind kind = AttentionKind::EncoderSelf;
    int layer = 5;                // from 1; a model with fewer layers shows its last
    std::vector<int> heads = {};  // visible heads, from 1; empty: all
    int word = -1;                // the selected column, from 0; -1: none
    Direction direction = Direction::From;
    int key = -1;                            // the other word of a pair, for the neuron view
    std::optional<bool> overview = {};       // empty: with more than two heads
    double least = 0.0;                      // the smallest weight of a figure's lines
    int top = 0;                             // a figure has this many lines of each word and head; 0: all
    bool numbers = false;                    // the weights of a chosen word are written below the figure's slabs
    SentenceRule rule = SentenceRule::Link;  // by which heads are ranked
    std::optional<ChosenHead> chosen = {};
    bool join_words = true;
    bool show_special = true;
    bool show_first = true;
    Palette palette = Palette::Paper;
    HeadOrder order = HeadOrder::Model;
    bool small_figures = false;  // all heads as figures, not as matrices
    int heads_page = 0;          // of all heads, where they fill several; from 0
    MatrixView matrix = MatrixView::Head;
    bool logarithmic = false;
    int step = -1;  // of the decoding; -1: the last. Of a text with gaps, unless by_piece, the gap; -1: the first
    bool show_fallen = false;
    bool by_piece = false;  // the decoding of a text with gaps is shown piece by piece, as that of other texts
    std::optional<std::int64_t> checkpoint = {};
    std::string block = {};  // the selected block of the model: prefix of its parameters; empty: none

    bool operator==(const ViewState&) const = default;
};

// The beam of a translation or a continuation.
int& beam_of(ViewState& state, Architecture family);
// The visible heads that the model has.
std::vector<int> active_heads(const ViewState& state, int model_heads);
constexpr int kClearHeads = 2;  // more are drawn as an overview
bool shows_overview(const ViewState& state, int model_heads);
// Whether kind, layer and head are still those that the window chose.
bool follows_choice(const ViewState& state);
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
