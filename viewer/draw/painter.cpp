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

// From the top of a line to the baseline. Newer versions of Dear ImGui know it for each size.
template <class Font>
float ascent_of(Font& font, float size) {
    if constexpr (requires { font.GetFontBaked(size); }) {
        return font.GetFontBaked(size)->Ascent;
    } else {
        return font.Ascent * size / font.FontSize;
    }
}

class Painter {
public:
    Painter(ImDrawList& list, const Placement& placement, Fonts& fonts)
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
        const SetText* set = fonts_.set(text.content, text.bold);
        if (set == nullptr) {
            fonts_.need(text.content);
        }
        const float size = em * kLineHeight;
        ImFont* font = set != nullptr ? nullptr : fonts_.fitting(size, text.bold, text.content);
        const char* begin = text.content.data();
        const char* end = begin + text.content.size();
        const float width = set != nullptr ? static_cast<float>(set->width) * em : width_of(font, size, begin, end);
        const float before = text.anchor == Anchor::Start ? 0.0F : text.anchor == Anchor::Middle ? 0.5F : 1.0F;
        const ImVec2 anchor = place_.to_window(text.x, text.y);
        const float reach = text.upwards ? size : width;
        const float rise = text.upwards ? width : size;
        if (outside(clip_, anchor.x - reach, anchor.y - rise, anchor.x + reach, anchor.y + rise)) {
            return;
        }
        const int first = list_.VtxBuffer.Size;
        const ImVec2 start(anchor.x - before * width, anchor.y);
        if (set != nullptr) {
            put_glyphs(*set, em, start, colour);
        } else {
            // No clipping here, since upwards text is rotated to its place below.
            constexpr float kFar = 1e9F;
            font->RenderText(&list_, size, ImVec2(start.x, start.y - kAscent * em), colour,
                             ImVec4(-kFar, -kFar, kFar, kFar), begin, end);
        }
        if (!text.upwards) {
            return;
        }
        for (int at = first; at < list_.VtxBuffer.Size; ++at) {
            ImVec2& corner = list_.VtxBuffer[at].pos;
            corner = ImVec2(anchor.x + (corner.y - anchor.y), anchor.y - (corner.x - anchor.x));
        }
    }

private:
    // `start`: on the baseline. Glyphs that are not loaded yet appear in a later frame; those that no font has, or no
    // private character is left for, are boxes.
    void put_glyphs(const SetText& set, float em, ImVec2 start, ImU32 colour) {
        for (const SetGlyph& glyph : set.glyphs) {
            const ImVec2 origin(start.x + static_cast<float>(glyph.at.x) * em,
                                start.y - static_cast<float>(glyph.at.y) * em);
            const ImWchar character =
                glyph.index == Typeface::kMissing ? ImWchar{0} : fonts_.glyphs().character_of(glyph);
            ImFont* font = fonts_.glyphs().font(*glyph.face, em);
            if (character == 0) {
                list_.AddRect(ImVec2(origin.x + 0.12F * em, origin.y - 0.69F * em),
                              ImVec2(origin.x + 0.58F * em, origin.y - 0.04F * em), colour, 0.0F, 0, 0.07F * em);
            } else if (font != nullptr) {
                const float size = em * static_cast<float>(glyph.face->line_height());
                font->RenderChar(&list_, size, ImVec2(origin.x, origin.y - ascent_of(*font, size)), colour, character);
            }
        }
    }

    ImDrawList& list_;
    const Placement& place_;
    Fonts& fonts_;
    ImVec4 clip_;
};

}  // namespace

void paint(ImDrawList& list, const Drawing& drawing, const Placement& placement, Fonts& fonts) {
    Painter painter(list, placement, fonts);
    for (const Primitive& primitive : drawing.primitives) {
        const ImU32 colour = to_u32(primitive.colour, primitive.alpha);
        std::visit([&](const auto& shape) { painter.put(shape, colour); }, primitive.shape);
    }
}

}  // namespace headscope::viewer
