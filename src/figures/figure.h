// The paper's attention figures (Figures 3 to 5), from selected weights to geometry. docs/figures.md has the rules.
#pragma once

#include <string>

#include "observe/selection.h"
#include "paint/sketch.h"

namespace headscope {

struct FigureOptions {
    // With no word chosen, each head at weight / active heads, so that many heads do not cover one another.
    bool overview = false;
    Palette palette = Palette::Paper;
    Look look = {};  // every length of the figure is a multiple of the text size
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

Drawing draw_figure(const SelectedAttention& attention, const FigureOptions& options = {});

// What hovering over a primitive of the figure says: "head 5: its \u2192 Law 0.83". Empty where there is nothing to
// say.
std::string figure_tip(const SelectedAttention& attention, const Mark& mark);

}  // namespace headscope
