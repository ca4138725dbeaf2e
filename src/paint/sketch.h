// Builds a drawing whose lengths are multiples of the text size.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "paint/drawing.h"
#include "paint/ink.h"

namespace headscope {

// The style of a figure; the window has its own size and theme.
struct Look {
    double text_size = 10.0;  // pixels
    Ink ink = kLightInk;
    bool tips = true;  // store tooltips in the primitives; the window makes them on demand instead
};

// Coordinates are in units of the text size.
class Sketch {
public:
    explicit Sketch(const Look& look);

    const Ink& ink() const { return look_.ink; }
    bool tips() const { return look_.tips; }

    void rect(Mark mark, Colour colour, Rect rect, double alpha = 1.0);
    void line(Mark mark, Colour colour, Line line, double alpha = 1.0);
    // Draws the mark of a word's beginning as a thin dot.
    void text(Mark mark, Colour colour, Text text);
    void polygon(Mark mark, Colour colour, std::vector<Point> corners, double alpha = 1.0);

    // Reserves space for `more` primitives.
    void reserve(std::size_t more) { drawing_.primitives.reserve(drawing_.primitives.size() + more); }

    // Text in the centre of a rectangle, shrunk to its width if necessary.
    void centred(Mark mark, Colour colour, const Rect& within, double size, const std::string& content,
                 bool bold = false);

    // Lines of text below one another, the first on the baseline `y`. Their height is lines_height().
    void lines_of_text(Mark mark, Colour colour, double x, double y, double size,
                       const std::vector<std::string>& lines);

    // Sets the size of the background and returns the drawing.
    Drawing finish(double width, double height, std::string title, std::string description);

private:
    void put(Mark mark, Colour colour, double alpha, Shape2d shape);
    Look look_;
    Drawing drawing_;
};

// Distance of the baseline below the middle of the letters, in units of their size.
constexpr double kBaseline = 0.35;
// Distance between baselines, in units of the letters' size.
constexpr double kLineSpacing = 1.3;
// Total height of the lines; 0 if there are none.
double lines_height(const std::vector<std::string>& lines, double size);
constexpr double kTitleSize = 1.6;

// Truncates a text to a width (in units of its size), with an ellipsis.
std::string shortened(const std::string& text, double width);

// Rounds up to a tenth of the text size: whole pixels at the default size, so that cells have sharp edges.
double snapped(double length);

}  // namespace headscope
