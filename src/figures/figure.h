// Draws the paper's attention figures (Figures 3 to 5). docs/figures.md has the rules.
#pragma once

#include <string>
#include <vector>

#include "observe/selection.h"
#include "paint/sketch.h"

namespace headscope {

struct FigureOptions {
    // If no word is chosen, divides opacities by the square root of the number of active heads, so that many lines stay
    // visible without a carpet.
    bool overview = false;
    // The lines of a pair of words lie side by side instead of on top of each other, as the paper's do: several colours
    // do not blend.
    bool side_by_side = false;
    // Lines to leave out, which a note counts: those with a smaller weight than `least`, and all but the `top`
    // strongest of each word and head; 0: none.
    double least = 0.0;
    int top = 0;
    bool numbers = false;        // the weights of the slabs, in a line for each visible head
    bool probabilities = false;  // the words that the model chose are shaded by their probabilities
    Palette palette = Palette::Paper;
    Look look = {};
};

constexpr double kFigurePitch = 1.5;  // between two words, in units of the text size

// The width of the longest label of a row, in units of the text size.
double longest_label(const std::vector<RowItem>& row);

Drawing draw_figure(const SelectedAttention& attention, const FigureOptions& options = {});

// The largest weight of the visible heads between chosen words, or all if none is chosen.
struct StrongestPair {
    int head = 1;
    std::size_t query = 0, key = 0;  // columns
    double weight = 0.0;
};
StrongestPair strongest_pair(const SelectedAttention& attention);

// The visible heads of the pair of words that a line stands for, the largest weight first; empty for other marks.
struct HeadWeight {
    int head = 1;
    double weight = 0.0;
};
std::vector<HeadWeight> heads_of_line(const SelectedAttention& attention, const Mark& mark);

// The tooltip of a primitive: "head 5: its \u2192 Law 0.83"; may be empty.
std::string figure_tip(const SelectedAttention& attention, const Mark& mark);

}  // namespace headscope
