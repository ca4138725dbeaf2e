// Curves over a training: losses by step, with its checkpoints as points.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "paint/sketch.h"

namespace headscope {

struct Series {
    std::string name;           // empty: not in the legend
    std::vector<Point> points;  // by growing x; one that is no number leaves a gap
    bool markers = false;       // points instead of a line; each has item = its index
};

struct CurveOptions {
    std::string title = "Loss";
    std::string x_label = "step";
    std::string y_label = {};
    bool logarithmic = false;  // y; values of 0 and less leave gaps
    double width = 48.0;       // of the whole picture, in text sizes
    double height = 24.0;
    // For several pictures that are to be compared, one below another.
    std::optional<std::pair<double, double>> x_range = {};  // else that of the points
    double least_label = 2.0;                               // the room of y's numbers, in text sizes
    int chosen = -1;                                        // a point of the first series with markers, which is ringed
    Palette palette = Palette::OkabeIto;
    Look look = {};
};

// Curves have head = number of their series from 1. More points than columns of pixels are thinned to the least and
// the greatest of each column, so that no peak is lost. A point without neighbours is drawn as one.
Drawing draw_curves(const std::vector<Series>& series, const CurveOptions& options);

// About `wanted` round numbers (1, 2 or 5 times a power of ten apart) within [low, high].
std::vector<double> nice_ticks(double low, double high, int wanted);

}  // namespace headscope
