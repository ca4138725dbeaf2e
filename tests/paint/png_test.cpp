// Bitmaps: coverage, glyphs and PNG files.
#include <catch2/catch.hpp>

#include <cmath>
#include <cstdlib>
#include <memory>

#define STBI_ONLY_PNG
#define STB_IMAGE_STATIC
#define STB_IMAGE_IMPLEMENTATION
#include <stb/stb_image.h>
#include <zlib.h>

#include "paint/font.h"
#include "paint/pdf.h"
#include "paint/png.h"
#include "paint/text_width.h"
#include "paint/typesetter.h"
#include "support/check.h"
#include "support/utf8.h"

using namespace headscope;

namespace {

void add(Drawing& drawing, Role role, Colour colour, double alpha, Shape2d shape) {
    drawing.primitives.push_back({{role}, colour, alpha, std::move(shape)});
}

Drawing drawing_of(double width, double height, const std::vector<Shape2d>& shapes, Colour paper = kWhite) {
    Drawing drawing;
    drawing.width = width;
    drawing.height = height;
    add(drawing, Role::Background, paper, 1.0, Rect{0, 0, width, height});
    for (const Shape2d& shape : shapes) {
        add(drawing, Role::Slab, kBlack, 1.0, shape);
    }
    return drawing;
}

int red(const Bitmap& bitmap, int x, int y) {
    return bitmap
        .rgba[(static_cast<std::size_t>(y) * static_cast<std::size_t>(bitmap.width) + static_cast<std::size_t>(x)) * 4];
}

// The painted area, in pixels of black on white.
double ink_of(const Bitmap& bitmap) {
    double sum = 0.0;
    for (std::size_t i = 0; i < bitmap.rgba.size(); i += 4) {
        sum += 1.0 - bitmap.rgba[i] / 255.0;
    }
    return sum;
}

}  // namespace

TEST_CASE("A rectangle covers pixels by their exact area", "[png]") {
    const Bitmap bitmap = rasterise(drawing_of(5, 4, {Rect{1.25, 1.0, 2.0, 1.5}}));
    CHECK(bitmap.width == 5);
    CHECK(bitmap.height == 4);
    CHECK(red(bitmap, 0, 1) == 255);
    CHECK(red(bitmap, 1, 1) == 64);   // three quarters
    CHECK(red(bitmap, 2, 1) == 0);    // all
    CHECK(red(bitmap, 3, 1) == 191);  // a quarter
    CHECK(red(bitmap, 4, 1) == 255);
    CHECK(red(bitmap, 2, 2) == 128);  // half in height
    CHECK(red(bitmap, 2, 0) == 255);
    CHECK(red(bitmap, 2, 3) == 255);
}

TEST_CASE("Areas are right for slanted, round and outlined shapes, and at the bitmap's edges", "[png]") {
    const auto area = [](const Shape2d& shape) { return ink_of(rasterise(drawing_of(40, 40, {shape}))); };
    CHECK(area(Line{5, 5, 30, 22, 2}) == Approx(2.0 * std::hypot(25, 17)).epsilon(0.01));
    CHECK(area(Polygon{{{10, 5}, {30, 12}, {8, 33}}}) == Approx(287.0).epsilon(0.002));
    CHECK(area(Polygon{{{8, 33}, {30, 12}, {10, 5}}}) == Approx(287.0).epsilon(0.002));  // the other way round
    CHECK(area(Rect{5, 5, 20, 20, 10}) == Approx(100.0 * 3.14159).epsilon(0.01));
    CHECK(area(Rect{5, 5, 20, 10, 0, 1}) == Approx(21.0 * 11.0 - 19.0 * 9.0).epsilon(0.01));
    CHECK(area(Rect{-10, 30, 20, 20}) == Approx(100.0));
    CHECK(area(Rect{30, -5, 100, 10}) == Approx(50.0));
    CHECK(area(Line{-20, -20, 60, 60, 2}) == Approx(2.0 * 40.0 * std::sqrt(2.0)).epsilon(0.03));
    CHECK(area(Line{60, 10, -20, 30, 3}) == Approx(3.0 * std::hypot(40, 10)).epsilon(0.01));
    CHECK(area(Rect{50, 5, 10, 10}) == 0.0);
    CHECK(area(Rect{-30, 5, 10, 10}) == 0.0);
    CHECK(area(Line{10, 10, 10, 10, 5}) == 0.0);
}

TEST_CASE("Opacity blends with the background, and scale multiplies the size", "[png]") {
    Drawing drawing = drawing_of(4, 2, {}, {200, 200, 200});
    add(drawing, Role::Slab, {100, 0, 0}, 0.25, Rect{0, 0, 2, 2});
    const Bitmap bitmap = rasterise(drawing, 2.5);
    CHECK(bitmap.width == 10);
    CHECK(bitmap.height == 5);
    CHECK(red(bitmap, 1, 1) == 175);
    CHECK(red(bitmap, 7, 1) == 200);
    CHECK(bitmap.rgba[3] == 255);
}

TEST_CASE("The font has all characters that the figures need", "[font]") {
    for (const bool bold : {false, true}) {
        Typeface face(bold);
        CHECK(font_bytes(bold).size() > 500000);
        const std::string text = "„Straße“ œ ▁its → × √ · – … <EOS> äöüéñ Ωλ Жя";
        for (std::size_t at = 0; at < text.size();) {
            const char32_t c = next_character(text, at);
            CHECK(face.index_of(c) != Typeface::kMissing);
            CHECK((c == ' ' || !face.glyph(face.index_of(c)).contours.empty()));
        }
        CHECK(face.index_of(0x1F642) == Typeface::kMissing);  // a smiley
        CHECK(face.glyph(Typeface::kMissing).contours.size() == 2);
    }
    Typeface regular(false), bold(true);
    CHECK(bold.glyph(bold.index_of('W')).advance > regular.glyph(regular.index_of('W')).advance);
}

TEST_CASE("Glyph curves are smooth: U+25CF is a disc", "[font]") {
    Typeface face(false);
    const Glyph& disc = face.glyph(face.index_of(0x25CF));
    REQUIRE(disc.contours.size() == 1);
    double left = 1e9, right = -1e9, top = -1e9, bottom = 1e9;
    for (const Point& point : disc.contours[0]) {
        left = std::min(left, point.x), right = std::max(right, point.x);
        bottom = std::min(bottom, point.y), top = std::max(top, point.y);
    }
    const double radius = (right - left) / 2.0;
    CHECK(top - bottom == Approx(right - left).epsilon(0.01));
    for (const Point& point : disc.contours[0]) {
        CHECK(std::hypot(point.x - (left + right) / 2.0, point.y - (top + bottom) / 2.0) ==
              Approx(radius).epsilon(0.01));
    }
}

TEST_CASE("Estimated label widths are close to the font's and never shorter", "[font]") {
    Typesetter typesetter;
    for (const std::string text : {"making", "governments", "application", "<EOS>", "Input-Input Layer5", "Würfel,"}) {
        const double length = typesetter.set(text, false).width;
        INFO(text << ": measured " << text_width(text) << ", drawn " << length);
        CHECK(text_width(text) > length * 0.97);
        CHECK(text_width(text) < length * 1.3);
    }
}

TEST_CASE("Text is placed at its anchor, and upwards is a quarter turn to the left", "[png]") {
    // "l" is only a stem, so its pixels show the position of the text.
    const auto box = [](const Text& text) {
        const Bitmap bitmap = rasterise(drawing_of(100, 100, {text}));
        int left = 100, right = -1, top = 100, bottom = -1;
        for (int y = 0; y < 100; ++y) {
            for (int x = 0; x < 100; ++x) {
                if (red(bitmap, x, y) < 200) {
                    left = std::min(left, x), right = std::max(right, x);
                    top = std::min(top, y), bottom = std::max(bottom, y);
                }
            }
        }
        return std::vector<int>{left, right, top, bottom};
    };
    const auto start = box({50, 50, 20, Anchor::Start, false, false, "lll"});
    CHECK(start[0] >= 50);
    CHECK(start[1] < 70);
    CHECK(start[3] == 49);
    CHECK(start[2] >= 33);
    const auto end = box({50, 50, 20, Anchor::End, false, false, "lll"});
    CHECK(end[1] < 50);
    const auto middle = box({50, 50, 20, Anchor::Middle, false, false, "lll"});
    CHECK(middle[0] + middle[1] == Approx(99).margin(2));
    const auto up = box({50, 50, 20, Anchor::Start, true, false, "lll"});
    CHECK(up[1] == 49);
    CHECK(up[0] >= 33);
    CHECK(up[3] < 50);
    CHECK(up[2] > 30);
}

TEST_CASE("A PNG decodes to the same pixels", "[png]") {
    const Bitmap bitmap =
        rasterise(drawing_of(33, 17, {Line{0, 0, 33, 17, 3}, Text{3, 14, 12, Anchor::Start, false, false, "its"}}));
    const std::string png = to_png(bitmap);
    int width = 0, height = 0, channels = 0;
    const std::unique_ptr<stbi_uc, decltype(&std::free)> pixels(
        stbi_load_from_memory(reinterpret_cast<const stbi_uc*>(png.data()), static_cast<int>(png.size()), &width,
                              &height, &channels, 4),
        &std::free);
    REQUIRE(pixels);
    CHECK(width == 33);
    CHECK(height == 17);
    CHECK(std::vector<std::uint8_t>(pixels.get(), pixels.get() + 33 * 17 * 4) == bitmap.rgba);
}

TEST_CASE("A PDF has a page as large as the drawing, its shapes as paths, and a table of where its objects begin",
          "[pdf]") {
    Drawing drawing = drawing_of(96, 48, {Rect{10, 20, 30, 4}, Text{3, 14, 12, Anchor::Start, false, false, "l"}});
    add(drawing, Role::Attention, {255, 0, 0}, 0.5, Line{0, 0, 10, 0, 2});
    drawing.title = "K\u00e4tze \U0001F431";
    const std::string pdf = to_pdf(drawing);
    CHECK(pdf.starts_with("%PDF-1.4\n"));
    CHECK(pdf.ends_with("%%EOF\n"));
    CHECK_THAT(pdf, Catch::Matchers::Contains("/MediaBox [0 0 72 36]") && Catch::Matchers::Contains("<</ca 0.5>>") &&
                        Catch::Matchers::Contains("/Title <FEFF004B00E40074007A00650020D83DDC31>"));
    for (std::size_t object = 1, at = pdf.find("xref\n0 6\n") + 29; object <= 5; ++object, at += 20) {
        const std::size_t begin = std::stoul(pdf.substr(at, 10));
        CHECK(pdf.substr(begin, 7) == std::to_string(object) + " 0 obj");
    }
    const std::size_t from = pdf.find("stream\n") + 7;
    const std::size_t length = std::stoul(pdf.substr(pdf.find("/Length ") + 8));
    std::string page(1 << 16, '\0');
    auto size = static_cast<uLongf>(page.size());
    REQUIRE(uncompress(reinterpret_cast<Bytef*>(page.data()), &size, reinterpret_cast<const Bytef*>(&pdf[from]),
                       static_cast<uLong>(length)) == Z_OK);
    page.resize(size);
    CHECK_THAT(page, Catch::Matchers::Contains("10 20 m\n40 20 l\n40 24 l\n10 24 l\nf\n") &&
                         Catch::Matchers::Contains(" gs 1 0 0 rg\n"));
}

TEST_CASE("A bitmap that is too large is rejected with a scale that fits", "[png]") {
    const Drawing drawing = drawing_of(1000, 1000, {});
    CHECK_THROWS_WITH(rasterise(drawing, 9.0), Catch::Matchers::Contains("9000 x 9000") &&
                                                   Catch::Matchers::Contains("use a scale of 8.19 or less"));
    CHECK_THROWS_AS(rasterise(drawing, 1e300), Error);
}
