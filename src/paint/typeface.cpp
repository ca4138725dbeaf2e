#include "paint/typeface.h"

#include <fmt/format.h>
#include <harfbuzz/hb.h>

#include "paint/font.h"
#include "support/check.h"

#define STBTT_STATIC
#define STB_TRUETYPE_IMPLEMENTATION
#include <stb/stb_truetype.h>

namespace headscope {

namespace {

constexpr int kCurveSegments = 6;

Glyph empty_box() {
    return {0.7,
            {{{0.08, 0.0}, {0.62, 0.0}, {0.62, 0.72}, {0.08, 0.72}},
             {{0.15, 0.07}, {0.15, 0.65}, {0.55, 0.65}, {0.55, 0.07}}}};
}

struct FreeShape {
    const stbtt_fontinfo* font;
    void operator()(stbtt_vertex* vertices) const { stbtt_FreeShape(font, vertices); }
};

Point quadratic(Point from, Point control, Point to, double t) {
    const double a = (1.0 - t) * (1.0 - t);
    const double b = 2.0 * t * (1.0 - t);
    return {a * from.x + b * control.x + t * t * to.x, a * from.y + b * control.y + t * t * to.y};
}

Point cubic(Point from, Point first, Point second, Point to, double t) {
    const Point early = quadratic(from, first, second, t);
    const Point late = quadratic(first, second, to, t);
    return {(1.0 - t) * early.x + t * late.x, (1.0 - t) * early.y + t * late.y};
}

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
            const Point from = contours.back().back();
            const Point control{vertex.cx * scale, vertex.cy * scale};
            const Point second{vertex.cx1 * scale, vertex.cy1 * scale};
            for (int piece = 1; piece <= kCurveSegments; ++piece) {
                const double t = static_cast<double>(piece) / kCurveSegments;
                contours.back().push_back(vertex.type == STBTT_vcubic ? cubic(from, control, second, to, t)
                                                                      : quadratic(from, control, to, t));
            }
        }
    }
    return contours;
}

struct HarfBuzzDeleter {
    void operator()(hb_blob_t* blob) const { hb_blob_destroy(blob); }
    void operator()(hb_face_t* face) const { hb_face_destroy(face); }
    void operator()(hb_font_t* font) const { hb_font_destroy(font); }
};

}  // namespace

struct Typeface::Font {
    std::unique_ptr<hb_blob_t, HarfBuzzDeleter> file;
    std::unique_ptr<hb_font_t, HarfBuzzDeleter> shaper;
    std::span<const std::uint8_t> bytes;
    stbtt_fontinfo info{};
    int face = 0;
    double units = 0.0;

    // Returns whether the file is a font.
    bool open() {
        unsigned length = 0;
        const char* data = hb_blob_get_data(file.get(), &length);
        bytes = {reinterpret_cast<const std::uint8_t*>(data), length};
        const int offset = length == 0 ? -1 : stbtt_GetFontOffsetForIndex(bytes.data(), face);
        if (offset < 0 || stbtt_InitFont(&info, bytes.data(), offset) == 0) {
            return false;
        }
        const std::unique_ptr<hb_face_t, HarfBuzzDeleter> of_file(
            hb_face_create(file.get(), static_cast<unsigned>(face)));
        shaper.reset(hb_font_create(of_file.get()));
        units = static_cast<double>(hb_face_get_upem(of_file.get()));
        return true;
    }
};

Typeface::Typeface(bool bold) : font_(std::make_unique<Font>()) {
    const std::span<const std::uint8_t> bytes = font_bytes(bold);
    font_->file.reset(hb_blob_create(reinterpret_cast<const char*>(bytes.data()), static_cast<unsigned>(bytes.size()),
                                     HB_MEMORY_MODE_READONLY, nullptr, nullptr));
    if (!font_->open()) {
        throw Error("the program's font is damaged: build the program again");
    }
}

Typeface::Typeface(const FontFile& file) : font_(std::make_unique<Font>()) {
    font_->file.reset(hb_blob_create_from_file(file.path.c_str()));
    font_->face = file.face;
    if (!font_->open()) {
        throw Error(fmt::format("{} has no TrueType or OpenType font with the index {}", file.path, file.face));
    }
}

Typeface::~Typeface() = default;

std::uint32_t Typeface::index_of(char32_t character) const {
    return static_cast<std::uint32_t>(stbtt_FindGlyphIndex(&font_->info, static_cast<int>(character)));
}

const Glyph& Typeface::glyph(std::uint32_t index) {
    const auto [at, is_new] = glyphs_.try_emplace(index);
    if (is_new && index == kMissing) {
        at->second = empty_box();
    } else if (is_new) {
        const double scale = static_cast<double>(stbtt_ScaleForMappingEmToPixels(&font_->info, 1.0F));
        const int known = static_cast<int>(index);
        int advance = 0;
        int bearing = 0;
        stbtt_GetGlyphHMetrics(&font_->info, known, &advance, &bearing);
        at->second = {advance * scale, outline(font_->info, known, scale)};
    }
    return at->second;
}

hb_font_t* Typeface::shaper() const {
    return font_->shaper.get();
}

double Typeface::units() const {
    return font_->units;
}

double Typeface::line_height() const {
    int ascent = 0, descent = 0, gap = 0;
    stbtt_GetFontVMetrics(&font_->info, &ascent, &descent, &gap);
    return (ascent - descent) / font_->units;
}

std::span<const std::uint8_t> Typeface::bytes() const {
    return font_->bytes;
}

std::size_t Typeface::offset() const {
    return static_cast<std::size_t>(font_->info.fontstart);
}

int Typeface::face() const {
    return font_->face;
}

}  // namespace headscope
