#include "viewer/draw/painter.h"

#include <algorithm>
#include <cmath>

#include <imgui_internal.h>

#include "viewer/draw/theme.h"

namespace headscope::viewer {

namespace {

bool outside(const ImVec4& clip, float left, float top, float right, float bottom) {
    return right < clip.x || left > clip.z || bottom < clip.y || top > clip.w;
}

class Painter {
public:
    Painter(ImDrawList& list, const Placement& placement, const Fonts& fonts)
        : list_(list), place_(placement), fonts_(fonts) {
        const ImVec2 low = list.GetClipRectMin();
        const ImVec2 high = list.GetClipRectMax();
        clip_ = ImVec4(low.x, low.y, high.x, high.y);
    }

    void put(const Rect& rect, ImU32 colour) {
        const ImVec2 low = place_.to_window(rect.x, rect.y);
        const ImVec2 high = place_.to_window(rect.x + rect.width, rect.y + rect.height);
        if (outside(clip_, low.x, low.y, high.x, high.y)) {
            return;
        }
        const float radius = static_cast<float>(rect.radius) * place_.zoom;
        if (rect.stroke > 0.0) {
            list_.AddRect(low, high, colour, radius, 0, static_cast<float>(rect.stroke) * place_.zoom);
        } else if (radius > 0.0F) {
            list_.AddRectFilled(low, high, colour, radius);
        } else {
            list_.PrimReserve(6, 4);
            list_.PrimRect(low, high, colour);
        }
    }

    // An anti-aliased quad from Dear ImGui's line texture. AddLine does the same, but with an overhead that matters for
    // the tens of thousands of lines of a long sentence.
    void put(const Line& line, ImU32 colour) {
        const ImVec2 from = place_.to_window(line.x1, line.y1);
        const ImVec2 to = place_.to_window(line.x2, line.y2);
        if (outside(clip_, std::min(from.x, to.x) - 2.0F, std::min(from.y, to.y) - 2.0F, std::max(from.x, to.x) + 2.0F,
                    std::max(from.y, to.y) + 2.0F)) {
            return;
        }
        const float width = std::max(static_cast<float>(line.width) * place_.zoom, 1.0F);
        const float dx = to.x - from.x;
        const float dy = to.y - from.y;
        const float length = std::sqrt(dx * dx + dy * dy);
        if (width > static_cast<float>(IM_DRAWLIST_TEX_LINES_WIDTH_MAX - 1) || length <= 0.0F) {
            list_.AddLine(from, to, colour, width);
            return;
        }
        const float whole = std::floor(width);
        ImVec4 uv = list_._Data->TexUvLines[static_cast<int>(whole)];
        if (width > whole) {
            const ImVec4 next = list_._Data->TexUvLines[static_cast<int>(whole) + 1];
            const float share = width - whole;
            uv = ImVec4(uv.x + (next.x - uv.x) * share, uv.y + (next.y - uv.y) * share, uv.z + (next.z - uv.z) * share,
                        uv.w + (next.w - uv.w) * share);
        }
        const float half = width * 0.5F + 1.0F;  // the texture has a transparent pixel on each side
        const ImVec2 side(-dy / length * half, dx / length * half);
        list_.PrimReserve(6, 4);
        list_.PrimQuadUV(ImVec2(from.x - side.x, from.y - side.y), ImVec2(to.x - side.x, to.y - side.y),
                         ImVec2(to.x + side.x, to.y + side.y), ImVec2(from.x + side.x, from.y + side.y),
                         ImVec2(uv.x, uv.y), ImVec2(uv.x, uv.y), ImVec2(uv.z, uv.w), ImVec2(uv.z, uv.w), colour);
    }

    void put(const Polygon& polygon, ImU32 colour) {
        for (const Point& corner : polygon.corners) {
            list_.PathLineTo(place_.to_window(corner.x, corner.y));
        }
        list_.PathFillConvex(colour);
    }

    void put(const Text& text, ImU32 colour) {
        const float em = static_cast<float>(text.size) * place_.zoom;
        if (em < 2.0F || text.content.empty()) {
            return;
        }
        const float size = em * kLineHeight;
        ImFont* font = fonts_.fitting(size, text.bold, text.content);
        const char* begin = text.content.data();
        const char* end = begin + text.content.size();
        const float width = width_of(font, size, begin, end);
        const float before = text.anchor == Anchor::Start ? 0.0F : text.anchor == Anchor::Middle ? 0.5F : 1.0F;
        const ImVec2 anchor = place_.to_window(text.x, text.y);
        const float reach = text.upwards ? size : width;
        const float rise = text.upwards ? width : size;
        if (outside(clip_, anchor.x - reach, anchor.y - rise, anchor.x + reach, anchor.y + rise)) {
            return;
        }
        // No clipping here, since upwards text is rotated to its place below.
        constexpr float kFar = 1e9F;
        const int first = list_.VtxBuffer.Size;
        font->RenderText(&list_, size, ImVec2(anchor.x - before * width, anchor.y - kAscent * em), colour,
                         ImVec4(-kFar, -kFar, kFar, kFar), begin, end);
        if (!text.upwards) {
            return;
        }
        for (int at = first; at < list_.VtxBuffer.Size; ++at) {
            ImVec2& corner = list_.VtxBuffer[at].pos;
            corner = ImVec2(anchor.x + (corner.y - anchor.y), anchor.y - (corner.x - anchor.x));
        }
    }

private:
    // Of the embedded font, in ems. Dear ImGui measures sizes by line height.
    static constexpr float kLineHeight = 1.164F;
    static constexpr float kAscent = 0.928F;  // from the top of a line to the baseline

    ImDrawList& list_;
    const Placement& place_;
    const Fonts& fonts_;
    ImVec4 clip_;
};

}  // namespace

void paint(ImDrawList& list, const Drawing& drawing, const Placement& placement, const Fonts& fonts) {
    Painter painter(list, placement, fonts);
    for (const Primitive& primitive : drawing.primitives) {
        const ImU32 colour = to_u32(primitive.colour, primitive.alpha);
        std::visit([&](const auto& shape) { painter.put(shape, colour); }, primitive.shape);
    }
}

}  // namespace headscope::viewer
