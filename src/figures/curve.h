// Line charts of a training run: losses by step, with checkpoints as points.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "paint/sketch.h"

namespace headscope {

struct Series {
    std::string name;           // empty: not in the legend
    std::vector<Point> points;  // by increasing x; a NaN leaves a gap
    bool markers = false;       // points instead of a line; each has item = its index
};

struct CurveOptions {
    std::string title = "Loss";
    std::string x_label = "step";
    std::string y_label = {};
    bool logarithmic = false;    // y axis; values <= 0 leave gaps
    bool logarithmic_x = false;  // x axis, the same
    double width = 48.0;         // of the whole picture, in text sizes
    double height = 24.0;
    // Align several charts below one another.
    std::optional<std::pair<double, double>> x_range = {};  // default: the range of the points
    double least_label = 2.0;                               // minimum width of the y axis numbers, in text sizes
    int chosen = -1;                                        // the point of the first series with markers to ring
    Palette palette = Palette::OkabeIto;
    Look look = {};
};

// Curves have head = series index from 1. Thins dense curves to the minimum and maximum of each pixel column, so that
// no peak is lost. Draws isolated points as points.
Drawing draw_curves(const std::vector<Series>& series, const CurveOptions& options);

// About `wanted` round numbers within [low, high], at a distance of 1, 2 or 5 times a power of ten.
std::vector<double> nice_ticks(double low, double high, int wanted);

}  // namespace headscope
