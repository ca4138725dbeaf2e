#include "paint/compose.h"

#include <algorithm>
#include <utility>

#include "paint/text_width.h"

namespace headscope {

namespace {

struct Move {
    double dx, dy;
    void operator()(Rect& rect) const {
        rect.x += dx;
        rect.y += dy;
    }
    void operator()(Line& line) const {
        line.x1 += dx;
        line.x2 += dx;
        line.y1 += dy;
        line.y2 += dy;
    }
    void operator()(Text& text) const {
        text.x += dx;
        text.y += dy;
    }
    void operator()(Polygon& polygon) const {
        for (Point& corner : polygon.corners) {
            corner.x += dx;
            corner.y += dy;
        }
    }
};

Drawing composed(std::vector<Drawing> drawings, double gap, const Ink& ink, bool downwards) {
    Drawing all;
    all.primitives.push_back({{Role::Background}, ink.paper, 1.0, Rect{}});
    double at = 0.0;
    for (Drawing& drawing : drawings) {
        if (drawing.primitives.empty()) {
            continue;
        }
        at += at > 0.0 ? gap : 0.0;
        const Move move = downwards ? Move{0.0, at} : Move{at, 0.0};
        for (Primitive& primitive : drawing.primitives) {
            if (primitive.mark.role != Role::Background) {
                std::visit(move, primitive.shape);
                all.primitives.push_back(std::move(primitive));
            }
        }
        at += downwards ? drawing.height : drawing.width;
        all.width = std::max(all.width, downwards ? drawing.width : at);
        all.height = std::max(all.height, downwards ? at : drawing.height);
        all.title = all.title.empty() ? drawing.title : all.title;
        all.description += all.description.empty() ? drawing.description : " " + drawing.description;
    }
    all.primitives.front().shape = Rect{0.0, 0.0, all.width, all.height};
    return all;
}

}  // namespace

Drawing stacked(std::vector<Drawing> drawings, double gap, const Ink& ink) {
    return composed(std::move(drawings), gap, ink, true);
}

Drawing side_by_side(std::vector<Drawing> drawings, double gap, const Ink& ink) {
    return composed(std::move(drawings), gap, ink, false);
}

Drawing retitled(Drawing drawing, const std::string& title) {
    drawing.title = title;
    const auto shown = std::ranges::find(drawing.primitives, Role::Title,
                                         [](const Primitive& primitive) { return primitive.mark.role; });
    auto* text = shown == drawing.primitives.end() ? nullptr : std::get_if<Text>(&shown->shape);
    if (text == nullptr) {
        return drawing;
    }
    text->content = title;
    drawing.width = std::max(drawing.width, 2.0 * text->x + text_width(title) * text->size);
    for (Primitive& primitive : drawing.primitives) {
        if (primitive.mark.role == Role::Background) {
            std::get<Rect>(primitive.shape).width = drawing.width;
        }
    }
    return drawing;
}

Drawing captioned(Drawing drawing, const std::string& caption, const Look& look) {
    constexpr double kEdge = 1.0;
    constexpr double kSize = 0.8;
    Sketch sketch(look);
    const double width = drawing.width / look.text_size;
    const std::vector<std::string> lines = wrapped(caption, (width - 2.0 * kEdge) / kSize);
    sketch.lines_of_text({Role::Note}, look.ink.faint, kEdge, kSize, kSize, lines);
    const double height = lines_height(lines, kSize) + kEdge;
    return stacked({std::move(drawing), sketch.finish(width, height, "", caption)}, 0.0, look.ink);
}

}  // namespace headscope
