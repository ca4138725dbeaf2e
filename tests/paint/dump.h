// A drawing's primitives as lines of text, to compare with a golden file.
#pragma once

#include <string>

#include <fmt/format.h>

#include "paint/drawing.h"

namespace headscope::test {

inline std::string dump(const Primitive& primitive) {
    const Mark& mark = primitive.mark;
    std::string line = fmt::format("{}", name_of(mark.role));
    if (mark.layer > 0) {
        line += fmt::format(" layer {}", mark.layer);
    }
    if (mark.item >= 0) {
        line += fmt::format(" item {}", mark.item);
    }
    line += fmt::format(" head {} query {} key {} {} {:.2f}", mark.head, mark.query, mark.key, to_hex(primitive.colour),
                        primitive.alpha);
    if (const auto* rect = std::get_if<Rect>(&primitive.shape)) {
        line += fmt::format(" rect {:.1f} {:.1f} {:.1f} {:.1f}", rect->x, rect->y, rect->width, rect->height);
        line += rect->stroke > 0.0 ? fmt::format(" outline {:.1f}", rect->stroke) : "";
    } else if (const auto* stroke = std::get_if<Line>(&primitive.shape)) {
        line += fmt::format(" line {:.1f} {:.1f} {:.1f} {:.1f} width {:.1f}", stroke->x1, stroke->y1, stroke->x2,
                            stroke->y2, stroke->width);
    } else if (const auto* text = std::get_if<Text>(&primitive.shape)) {
        line += fmt::format(" text {:.1f} {:.1f} size {:.1f}{} anchor {} '{}'", text->x, text->y, text->size,
                            text->upwards ? " upwards" : "", static_cast<int>(text->anchor), text->content);
    } else if (const auto* polygon = std::get_if<Polygon>(&primitive.shape)) {
        line += " polygon";
        for (const Point& corner : polygon->corners) {
            line += fmt::format(" {:.1f},{:.1f}", corner.x, corner.y);
        }
    }
    return line;
}

inline std::string dump(const Drawing& drawing) {
    std::string lines = fmt::format("{:.1f} x {:.1f} {}\n", drawing.width, drawing.height, drawing.title);
    for (const Primitive& primitive : drawing.primitives) {
        lines += dump(primitive) + "\n";
    }
    return lines;
}

}  // namespace headscope::test
