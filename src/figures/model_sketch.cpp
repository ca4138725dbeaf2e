#include "figures/model_sketch.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace headscope {

Colour ModelSketch::fill_of(BlockKind kind) const {
    Colour colour{0xf2, 0xf4, 0xc1};  // add and norm
    switch (kind) {
        case BlockKind::Embedding: colour = {0xfc, 0xe0, 0xe1}; break;
        case BlockKind::Positions:
        case BlockKind::RelativePositions: colour = {0xec, 0xec, 0xec}; break;
        case BlockKind::Attention:
        case BlockKind::Convolution: colour = {0xfe, 0xe1, 0xba}; break;
        case BlockKind::Recurrent: colour = {0xe4, 0xd7, 0xf0}; break;
        case BlockKind::FeedForward: colour = {0xc2, 0xe8, 0xf7}; break;
        case BlockKind::Linear: colour = {0xdc, 0xdf, 0xef}; break;
        case BlockKind::Softmax: colour = {0xcb, 0xe7, 0xcf}; break;
        case BlockKind::Layer:
        case BlockKind::Norm: break;
    }
    return ground_under_text(colour, ink_);
}

Mark ModelSketch::mark_of(const Block& which, const std::string& name) const {
    Mark mark{Role::Block};
    mark.layer = which.layer;
    mark.item = index_of(which);
    if (sketch_.tips()) {
        mark.tip =
            fmt::format("{}{}{}", name, which.layer > 0 ? fmt::format(" of layer {}", which.layer) : "",
                        which.parameters > 0 ? fmt::format(": {} parameters", with_thousands(which.parameters)) : "");
    }
    return mark;
}

void ModelSketch::block(const Block& which, const Rect& place, const std::string& name, const std::string& detail) {
    box(mark_of(which, name), fill_of(which.kind), place, name, detail);
}

void ModelSketch::box(Mark mark, Colour fill, const Rect& place, const std::string& name, const std::string& detail) {
    Rect shape = place;
    shape.radius = 0.35;
    sketch_.rect(mark, fill, shape);
    shape.stroke = kBlockStroke;
    sketch_.rect(mark, ink_.off, shape);
    mark.tip.clear();
    mark.role = Role::Label;
    const Rect inside{place.x + 0.4, place.y, place.width - 0.8, detail.empty() ? place.height : place.height * 0.6};
    sketch_.centred(mark, ink_.text, inside, place.height < kLowBlock + 0.1 && place.width < kBlockWidth ? 0.85 : 1.0,
                    name);
    if (!detail.empty()) {
        mark.role = Role::Value;
        sketch_.centred(mark, ink_.text, {inside.x, place.y + place.height * 0.48, inside.width, place.height * 0.46},
                        kBlockDetail, detail);
    }
}

void ModelSketch::path(const std::vector<Point>& points, bool arrow) {
    for (std::size_t i = 0; i + 1 < points.size(); ++i) {
        const Point& a = points[i];
        const Point& b = points[i + 1];
        // Square corners: each piece reaches half a stroke further, but not into the arrow's point.
        const double last = i + 2 == points.size() ? (arrow ? -0.3 : 0.0) : kBlockStroke / 2.0;
        const double length = std::max(std::hypot(b.x - a.x, b.y - a.y), 1e-9);
        const Point along{(b.x - a.x) / length, (b.y - a.y) / length};
        sketch_.line({Role::Edge}, ink_.faint, {a.x, a.y, b.x + along.x * last, b.y + along.y * last, kBlockStroke});
    }
    if (arrow) {
        const Point& a = points[points.size() - 2];
        const Point& b = points.back();
        const double length = std::max(std::hypot(b.x - a.x, b.y - a.y), 1e-9);
        const Point along{(b.x - a.x) / length * 0.5, (b.y - a.y) / length * 0.5};
        sketch_.polygon({Role::Edge}, ink_.faint,
                        {b,
                         {b.x - along.x - along.y * 0.6, b.y - along.y + along.x * 0.6},
                         {b.x - along.x + along.y * 0.6, b.y - along.y - along.x * 0.6}});
    }
}

void ModelSketch::note(double x, double y, const std::string& text, Anchor anchor) {
    sketch_.text({Role::Note}, ink_.faint, {x, y, kBlockDetail, anchor, false, false, text});
}

}  // namespace headscope
