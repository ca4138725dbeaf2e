// Puts down a drawing whose lengths are all multiples of the text size.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "paint/drawing.h"
#include "paint/ink.h"

namespace headscope {

// How every layout looks; the window has its own size and theme.
struct Look {
    double text_size = 10.0;  // pixels
    Ink ink = kLightInk;
    bool tips = true;  // primitives carry what hovering says; a window asks for it when it hovers
};

// Coordinates are in units of the text size.
class Sketch {
public:
    explicit Sketch(const Look& look);

    const Ink& ink() const { return look_.ink; }
    bool tips() const { return look_.tips; }

    void rect(Mark mark, Colour colour, Rect rect, double alpha = 1.0);
    void line(Mark mark, Colour colour, Line line, double alpha = 1.0);
    void text(Mark mark, Colour colour, Text text);
    void polygon(Mark mark, Colour colour, std::vector<Point> corners, double alpha = 1.0);

    // Room for so many more primitives.
    void reserve(std::size_t more) { drawing_.primitives.reserve(drawing_.primitives.size() + more); }

    // In the middle of a rectangle, as large as `size` or as fits its width.
    void centred(Mark mark, Colour colour, const Rect& within, double size, const std::string& content,
                 bool bold = false);

    // One below another, the first on the base line `y`; how much room the lines take is lines_height.
    void lines_of_text(Mark mark, Colour colour, double x, double y, double size,
                       const std::vector<std::string>& lines);

    // Puts the paper below all.
    Drawing finish(double width, double height, std::string title, std::string description);

private:
    void put(Mark mark, Colour colour, double alpha, Shape2d shape);
    Look look_;
    Drawing drawing_;
};

// How far a base line lies below the middle of its letters, of their size.
constexpr double kBaseline = 0.35;
// From one base line of several to the next, of their size.
constexpr double kLineSpacing = 1.3;
// From above the first line to below the last; 0 where there is none.
double lines_height(const std::vector<std::string>& lines, double size);
// What a title takes and is set in.
constexpr double kTitleSize = 1.6;

// As much of a text as fits a width (in units of its size), with an ellipsis where it was cut.
std::string shortened(const std::string& text, double width);

// Up to a whole tenth of the text size: whole pixels at the usual size, so that cells have sharp edges.
double snapped(double length);

}  // namespace headscope
