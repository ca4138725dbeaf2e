// Draws the paper's attention figures (Figures 3 to 5). docs/figures.md has the rules.
#pragma once

#include <string>
#include <vector>

#include "observe/selection.h"
#include "paint/sketch.h"

namespace headscope {

struct FigureOptions {
    // If no word is chosen, divides opacities by the number of active heads, so that overlapping heads stay visible.
    bool overview = false;
    Palette palette = Palette::Paper;
    Look look = {};
};

constexpr double kFigurePitch = 1.5;  // between two words, in units of the text size

// The width of the longest label of a row, in units of the text size.
double longest_label(const std::vector<RowItem>& row);

Drawing draw_figure(const SelectedAttention& attention, const FigureOptions& options = {});

// The tooltip of a primitive: "head 5: its \u2192 Law 0.83"; may be empty.
std::string figure_tip(const SelectedAttention& attention, const Mark& mark);

}  // namespace headscope
