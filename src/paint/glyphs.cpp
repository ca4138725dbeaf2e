#include "paint/glyphs.h"

#include <array>
#include <memory>
#include <string>

#include "paint/font.h"
#include "support/check.h"

#define STBTT_STATIC
#define STB_TRUETYPE_IMPLEMENTATION
#include <stb/stb_truetype.h>

namespace headscope {

namespace {

constexpr int kCurveSegments = 6;

bool is_invisible(char32_t c) {
    return c < 0x20 || (c >= 0x7F && c < 0xA0) || (c >= 0x200B && c <= 0x200F) || (c >= 0x202A && c <= 0x202E) ||
           (c >= 0x2060 && c <= 0x2069) || (c >= 0xFE00 && c <= 0xFE0F) || c == 0xFEFF;
}

Glyph empty_box() {
    return {0.7,
            {{{0.08, 0.0}, {0.62, 0.0}, {0.62, 0.72}, {0.08, 0.72}},
             {{0.15, 0.07}, {0.15, 0.65}, {0.55, 0.65}, {0.55, 0.07}}}};
}

struct FreeShape {
    const stbtt_fontinfo* font;
    void operator()(stbtt_vertex* vertices) const { stbtt_FreeShape(font, vertices); }
};

std::vector<std::vector<Point>> outline(const stbtt_fontinfo& font, int index, double scale) {
    stbtt_vertex* vertices = nullptr;
    const int count = stbtt_GetGlyphShape(&font, index, &vertices);
    const std::unique_ptr<stbtt_vertex, FreeShape> owner(vertices, FreeShape{&font});
    std::vector<std::vector<Point>> contours;
    for (int i = 0; i < count; ++i) {
        const stbtt_vertex& vertex = vertices[i];
        const Point to{vertex.x * scale, vertex.y * scale};
        if (vertex.type == STBTT_vmove) {
            contours.push_back({to});
        } else if (vertex.type == STBTT_vline) {
            contours.back().push_back(to);
        } else {
            HEADSCOPE_CHECK(vertex.type == STBTT_vcurve, "TrueType outlines are made of quadratic curves");
            const Point from = contours.back().back();
            const Point control{vertex.cx * scale, vertex.cy * scale};
            for (int piece = 1; piece <= kCurveSegments; ++piece) {
                const double t = static_cast<double>(piece) / kCurveSegments;
                const double a = (1.0 - t) * (1.0 - t);
                const double b = 2.0 * t * (1.0 - t);
                contours.back().push_back(
                    {a * from.x + b * control.x + t * t * to.x, a * from.y + b * control.y + t * t * to.y});
            }
        }
    }
    return contours;
}

}  // namespace

struct Glyphs::Fonts {
    std::array<stbtt_fontinfo, 2> info{};
};

Glyphs::Glyphs() : fonts_(std::make_unique<Fonts>()) {
    for (const bool bold : {false, true}) {
        HEADSCOPE_CHECK(stbtt_InitFont(&fonts_->info[bold ? 1 : 0], font_bytes(bold).data(), 0) != 0,
                        "the program's font is a TrueType file");
    }
}

Glyphs::~Glyphs() = default;

const Glyph& Glyphs::of(char32_t character, bool bold) {
    const auto found = known_.find({character, bold});
    if (found != known_.end()) {
        return found->second;
    }
    Glyph glyph;
    if (!is_invisible(character)) {
        const stbtt_fontinfo& font = fonts_->info[bold ? 1 : 0];
        const int index = stbtt_FindGlyphIndex(&font, static_cast<int>(character));
        if (index == 0) {
            glyph = empty_box();
        } else {
            const double scale = static_cast<double>(stbtt_ScaleForMappingEmToPixels(&font, 1.0F));
            int advance = 0;
            int bearing = 0;
            stbtt_GetGlyphHMetrics(&font, index, &advance, &bearing);
            glyph = {advance * scale, outline(font, index, scale)};
        }
    }
    return known_.emplace(std::pair(character, bold), std::move(glyph)).first->second;
}

}  // namespace headscope
