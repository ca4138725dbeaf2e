// The paper's attention figures (Figures 3 to 5), from a record to geometry. docs/figures.md has the rules.
#pragma once

#include <string>
#include <vector>

#include "observe/attention_record.h"
#include "observe/words.h"
#include "paint/drawing.h"
#include "paint/ink.h"

namespace headscope {

struct FigureOptions {
    AttentionKind kind = AttentionKind::EncoderSelf;
    int layer = 1;                        // from 1
    std::vector<int> heads = {};          // from 1, those that are on; empty: all
    std::vector<std::string> words = {};  // the queries drawn: "its", "its:2"; with `positions` empty too: every query
    std::vector<int> positions = {};      // the same by column, from 1
    bool looked_at = false;               // words and positions are keys instead: who looks at them?
    // With no word chosen, each head at weight / active heads, so that many heads do not cover one another.
    bool overview = false;
    Palette palette = Palette::Paper;
    RowOptions rows = {};
    double text_size = 10.0;  // pixels; every length of the figure is a multiple of it
    Ink ink = kLightInk;
    bool tips = true;  // lines and slabs carry what hovering says; a window asks figure_tip when it hovers
};

// Lengths in units of the text size.
namespace figure {
constexpr double kPitch = 1.5;
constexpr double kBand = 8.0;  // more where a label is longer
constexpr double kGap = 10.0;
constexpr double kStroke = 0.2;
constexpr double kSwatch = 2.0;
constexpr double kTitle = 2.1;
constexpr double kPadding = 0.2;
constexpr double kMargin = 1.0;
constexpr int kSwatchesInRow = 16;
// Below this opacity nothing is drawn: four of 255 steps.
constexpr double kFaintest = 4.0 / 255.0;
}  // namespace figure

// Error names what exists when a layer, head, word or position does not, or when a weight is not a number.
Drawing draw_figure(const AttentionRecord& record, const FigureOptions& options);

// Error when there is no such head, counted from 1.
void check_heads(const std::vector<int>& heads, int model_heads);

// What draw_figure shows, before geometry: also what a table of the same attention needs.
struct FigureContent {
    std::string title;
    // What a reader must know of the weights, shown by whatever shows them: edits of the model, joined pieces, what was
    // left out. May be empty.
    std::string note = {};
    std::string edited = {};  // as the record has it
    std::vector<RowItem> queries;
    std::vector<RowItem> keys;
    std::vector<int> heads;                     // on, from 1, in order
    int model_heads = 0;                        // of the layer
    std::vector<std::size_t> chosen;            // columns of queries, in order; empty: none chosen
    std::vector<std::size_t> chosen_keys = {};  // the same of keys; of the two one is empty
    std::vector<float> weights;                 // [model_heads, queries, keys]
    bool joined = false;                        // whether any item is more than one piece
    bool renormalised = false;  // whether begin and end were left out, and the rest scaled to add up as before

    std::size_t index(int head, std::size_t query, std::size_t key) const {
        return ((static_cast<std::size_t>(head) - 1) * queries.size() + query) * keys.size() + key;
    }
    float weight(int head, std::size_t query, std::size_t key) const { return weights[index(head, query, key)]; }
    // The key a head looks at most from this query.
    std::size_t strongest(int head, std::size_t query) const;
};
FigureContent select_content(const AttentionRecord& record, const FigureOptions& options);
// "Edited: ..." of a record; empty where nothing was edited.
std::string edited_note(const std::string& edited);
// The geometry alone, of content that was selected with the same options.
Drawing draw_figure(const FigureContent& content, const FigureOptions& options);
// What hovering over a primitive of the figure says: "head 5: its \u2192 Law 0.83". Empty where there is nothing to
// say.
std::string figure_tip(const FigureContent& content, const Mark& mark);

}  // namespace headscope
