#include "paint/compose.h"

#include <algorithm>
#include <utility>

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

}  // namespace headscope
