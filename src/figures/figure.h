// Draws the paper's attention figures (Figures 3 to 5). docs/figures.md has the rules.
#pragma once

#include <string>

#include "observe/selection.h"
#include "paint/sketch.h"

namespace headscope {

struct FigureOptions {
    // If no word is chosen, divides opacities by the number of active heads, so that overlapping heads stay visible.
    bool overview = false;
    Palette palette = Palette::Paper;
    Look look = {};
};

// Lengths in units of the text size.
namespace figure {
constexpr double kPitch = 1.5;
constexpr double kBand = 8.0;  // minimum; grows with the longest label
constexpr double kGap = 10.0;
constexpr double kStroke = 0.2;
constexpr double kSwatch = 2.0;
constexpr double kTitle = 2.1;
constexpr double kPadding = 0.2;
constexpr double kMargin = 1.0;
constexpr int kSwatchesInRow = 16;
// Lines below this opacity are not drawn: 4 of 255 steps.
constexpr double kFaintest = 4.0 / 255.0;
}  // namespace figure

Drawing draw_figure(const SelectedAttention& attention, const FigureOptions& options = {});

// The tooltip of a primitive: "head 5: its \u2192 Law 0.83"; may be empty.
std::string figure_tip(const SelectedAttention& attention, const Mark& mark);

}  // namespace headscope
