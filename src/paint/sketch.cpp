#include "paint/sketch.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "paint/text_width.h"
#include "support/check.h"
#include "support/utf8.h"

namespace headscope {

namespace {

// SentencePiece's mark of a word's beginning, which fonts draw as a thick bar.
constexpr std::string_view kWordMark = "\u2581";

}  // namespace

Sketch::Sketch(const Look& look) : look_(look) {
    HEADSCOPE_CHECK(look.text_size > 0.0, "the text size of a drawing must be positive");
    put({Role::Background}, look.ink.paper, 1.0, Rect{});
}

void Sketch::put(Mark mark, Colour colour, double alpha, Shape2d shape) {
    drawing_.primitives.push_back({std::move(mark), colour, alpha, std::move(shape)});
}

void Sketch::rect(Mark mark, Colour colour, Rect r, double alpha) {
    const double s = look_.text_size;
    put(std::move(mark), colour, alpha, Rect{r.x * s, r.y * s, r.width * s, r.height * s, r.radius * s, r.stroke * s});
}

void Sketch::line(Mark mark, Colour colour, Line l, double alpha) {
    const double s = look_.text_size;
    put(std::move(mark), colour, alpha, Line{l.x1 * s, l.y1 * s, l.x2 * s, l.y2 * s, l.width * s});
}

void Sketch::text(Mark mark, Colour colour, Text t) {
    for (std::size_t at = 0; (at = t.content.find(kWordMark, at)) != std::string::npos;) {
        t.content.replace(at, kWordMark.size(), "\u00B7");
    }
    t.x *= look_.text_size;
    t.y *= look_.text_size;
    t.size *= look_.text_size;
    put(std::move(mark), colour, 1.0, std::move(t));
}

void Sketch::polygon(Mark mark, Colour colour, std::vector<Point> corners, double alpha) {
    for (Point& corner : corners) {
        corner = {corner.x * look_.text_size, corner.y * look_.text_size};
    }
    put(std::move(mark), colour, alpha, Polygon{std::move(corners)});
}

void Sketch::centred(Mark mark, Colour colour, const Rect& within, double size, const std::string& content, bool bold) {
    const double length = text_width(content) * (bold ? 1.1 : 1.0);
    const double fitting = length > 0.0 ? std::min(size, within.width / length) : size;
    text(std::move(mark), colour,
         {within.x + within.width / 2.0, within.y + within.height / 2.0 + kBaseline * fitting, fitting, Anchor::Middle,
          false, bold, content});
}

void Sketch::lines_of_text(Mark mark, Colour colour, double x, double y, double size,
                           const std::vector<std::string>& lines) {
    for (const std::string& line : lines) {
        text(mark, colour, {x, y, size, Anchor::Start, false, false, line});
        y += kLineSpacing * size;
    }
}

Drawing Sketch::finish(double width, double height, std::string title, std::string description) {
    drawing_.width = width * look_.text_size;
    drawing_.height = height * look_.text_size;
    drawing_.title = std::move(title);
    drawing_.description = std::move(description);
    drawing_.primitives.front().shape = Rect{0.0, 0.0, drawing_.width, drawing_.height};
    return std::move(drawing_);
}

double lines_height(const std::vector<std::string>& lines, double size) {
    return kLineSpacing * size * static_cast<double>(lines.size());
}

std::string shortened(const std::string& text, double width) {
    if (text_width(text) <= width) {
        return text;
    }
    const std::string ellipsis = "\u2026";
    std::size_t end = 0;
    for (std::size_t at = 0; at < text.size();) {
        next_character(text, at);
        if (text_width(text.substr(0, at)) + text_width(ellipsis) > width) {
            break;
        }
        end = at;
    }
    return text.substr(0, end) + ellipsis;
}

double snapped(double length) {
    return std::ceil(length * 10.0 - 1e-9) / 10.0;
}

}  // namespace headscope
