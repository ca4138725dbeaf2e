// Drawings as triangles, without a window: positions, clipping, and large drawings.
#include <algorithm>
#include <cmath>

#include <imgui.h>
#include <catch2/catch.hpp>

#include "viewer/draw/fonts.h"
#include "viewer/draw/painter.h"
#include "viewer/draw/theme.h"

using namespace headscope;
using namespace headscope::viewer;

namespace {

// Dear ImGui with the embedded font and without a device.
class Canvas {
public:
    explicit Canvas(FontFinder find = system_fonts) : fonts(std::move(find)) {
        ImGui::CreateContext();
        ImGuiIO& io = ImGui::GetIO();
        io.IniFilename = nullptr;
        io.BackendFlags |= ImGuiBackendFlags_RendererHasVtxOffset;
        io.DisplaySize = ImVec2(1000.0F, 800.0F);
#ifdef IMGUI_HAS_TEXTURES
        io.BackendFlags |= ImGuiBackendFlags_RendererHasTextures;
#endif
        load_fonts();
        ImGui::NewFrame();
    }
    Canvas(const Canvas&) = delete;
    Canvas& operator=(const Canvas&) = delete;
    ~Canvas() {
        ImGui::EndFrame();
        ImGui::DestroyContext();
    }

    // A frame with what the one before it needed.
    void next_frame() {
        ImGui::EndFrame();
        ImGui::GetIO().Fonts->Clear();
        load_fonts();
        ImGui::NewFrame();
    }
    void load_fonts() {
        fonts.build(1.0F);
#ifndef IMGUI_HAS_TEXTURES
        unsigned char* pixels = nullptr;
        int width = 0;
        int height = 0;
        ImGui::GetIO().Fonts->GetTexDataAsAlpha8(&pixels, &width, &height);
#endif
    }

    ImDrawList& paint_on_background(const Drawing& drawing, const Placement& placement) {
        ImDrawList& list = *ImGui::GetBackgroundDrawList();
        paint(list, drawing, placement, fonts);
        return list;
    }

    Fonts fonts;
};

Drawing drawing_of(const Text& text) {
    Drawing drawing;
    drawing.width = 400.0;
    drawing.height = 200.0;
    drawing.primitives.push_back({.mark = {}, .colour = {}, .shape = text});
    return drawing;
}

struct Box {
    float left = 1e9F, top = 1e9F, right = -1e9F, bottom = -1e9F;
};

Box box_of_vertices(const ImDrawList& list) {
    Box box;
    for (const ImDrawVert& vertex : list.VtxBuffer) {
        box.left = std::min(box.left, vertex.pos.x);
        box.right = std::max(box.right, vertex.pos.x);
        box.top = std::min(box.top, vertex.pos.y);
        box.bottom = std::max(box.bottom, vertex.pos.y);
    }
    return box;
}

Drawing with(Shape2d shape, double alpha = 1.0) {
    Drawing drawing{500.0, 400.0, "", "", {}};
    drawing.primitives.push_back({{Role::Cell}, Colour{10, 20, 30}, alpha, std::move(shape)});
    return drawing;
}

}  // namespace

TEST_CASE("A rectangle has its position, colour and opacity", "[painter]") {
    Canvas canvas;
    const ImDrawList& list =
        canvas.paint_on_background(with(Rect{10.0, 20.0, 30.0, 40.0}, 0.5), {ImVec2(100.0F, 50.0F), 2.0F});
    const Box box = box_of_vertices(list);
    CHECK(box.left == 120.0F);
    CHECK(box.top == 90.0F);
    CHECK(box.right == 180.0F);
    CHECK(box.bottom == 170.0F);
    CHECK(list.VtxBuffer.Size == 4);
    CHECK(list.VtxBuffer[0].col == IM_COL32(10, 20, 30, 128));
    CHECK(to_u32(Colour{1, 2, 3}, 1.5) == IM_COL32(1, 2, 3, 255));
}

TEST_CASE("A line is one quad about its ends, whatever its direction", "[painter]") {
    Canvas canvas;
    const ImDrawList& list =
        canvas.paint_on_background(with(Line{100.0, 100.0, 400.0, 300.0, 2.0}), {ImVec2(0.0F, 0.0F), 1.0F});
    REQUIRE(list.VtxBuffer.Size == 4);
    ImVec2 middle(0.0F, 0.0F);
    for (const ImDrawVert& vertex : list.VtxBuffer) {
        middle.x += 0.25F * vertex.pos.x;
        middle.y += 0.25F * vertex.pos.y;
    }
    CHECK(middle.x == Approx(250.0F));
    CHECK(middle.y == Approx(200.0F));
    const ImVec2 across(list.VtxBuffer[0].pos.x - list.VtxBuffer[3].pos.x,
                        list.VtxBuffer[0].pos.y - list.VtxBuffer[3].pos.y);
    CHECK(std::hypot(across.x, across.y) == Approx(4.0F));  // two pixels, and a transparent one on each side
    // Perpendicular: checks the cosine, since the error of the dot product grows with the lengths.
    CHECK((across.x * 300.0F + across.y * 200.0F) / (4.0F * std::hypot(300.0F, 200.0F)) == Approx(0.0F).margin(1e-5));
}

TEST_CASE("Primitives outside the clip rectangle are skipped", "[painter]") {
    Canvas canvas;
    Drawing drawing = with(Rect{5000.0, 0.0, 10.0, 10.0});
    drawing.primitives.push_back({{Role::Attention}, kBlack, 1.0, Line{-50.0, -50.0, -10.0, -10.0, 2.0}});
    drawing.primitives.push_back(
        {{Role::Label}, kBlack, 1.0, Text{0.0, 5000.0, 10.0, Anchor::Start, false, false, "far"}});
    CHECK(canvas.paint_on_background(drawing, {ImVec2(0.0F, 0.0F), 1.0F}).VtxBuffer.Size == 0);
}

TEST_CASE("Text is anchored at its start, middle or end, and upwards text is rotated about that", "[painter]") {
    const auto painted = [](Anchor anchor, bool upwards) {
        Canvas canvas;
        return box_of_vertices(canvas.paint_on_background(
            with(Text{300.0, 200.0, 20.0, anchor, upwards, false, "Headscope"}), {ImVec2(0.0F, 0.0F), 1.0F}));
    };
    const Box start = painted(Anchor::Start, false);
    const float width = start.right - start.left;
    CHECK(start.left == Approx(300.0F).margin(3.0));
    CHECK(start.bottom > 200.0F);  // the p reaches below the baseline
    CHECK(start.top < 190.0F);
    CHECK(painted(Anchor::End, false).right == Approx(300.0F).margin(3.0));
    CHECK(painted(Anchor::Middle, false).left == Approx(300.0F - 0.5F * width).margin(3.0));
    const Box upwards = painted(Anchor::Start, true);
    CHECK(upwards.bottom == Approx(200.0F).margin(3.0));  // reads from bottom to top
    CHECK(upwards.bottom - upwards.top == Approx(width).margin(2.0));
    CHECK(upwards.right > 300.0F);
    CHECK(painted(Anchor::End, true).top == Approx(200.0F).margin(3.0));
}

TEST_CASE("A long sentence's lines exceed 16-bit indices, and all are drawn", "[painter]") {
    Canvas canvas;
    Drawing drawing{900.0, 700.0, "", "", {}};
    constexpr int kLines = 40'000;  // 160,000 vertices: 16-bit indices reach 65,536
    for (int line = 0; line < kLines; ++line) {
        const double x = 1.0 + 900.0 * line / kLines;
        drawing.primitives.push_back({{Role::Attention}, kBlack, 0.5, Line{x, 10.0, 900.0 - x, 600.0, 2.0}});
    }
    const ImDrawList& list = canvas.paint_on_background(drawing, {ImVec2(0.0F, 0.0F), 1.0F});
    CHECK(list.VtxBuffer.Size == 4 * kLines);
    CHECK(list.IdxBuffer.Size == 6 * kLines);
}

TEST_CASE("There is a face for every size that drawings use", "[painter]") {
    const Canvas canvas;
    CHECK(canvas.fonts.fitting(12.0F, false, "a") != canvas.fonts.fitting(28.0F, false, "a"));
    CHECK(canvas.fonts.fitting(16.0F, true, "a") == canvas.fonts.bold());
    // The largest face has only Latin letters.
    ImFont* title = canvas.fonts.fitting(50.0F, false, "M\u00FCde");
    CHECK(title != canvas.fonts.fitting(50.0F, false, "\u2581m\u00FCde"));
    CHECK(title->FindGlyphNoFallback(static_cast<ImWchar>(0x2581)) == nullptr);
    CHECK(canvas.fonts.fitting(50.0F, false, "\u2581")->FindGlyphNoFallback(static_cast<ImWchar>(0x2581)) != nullptr);
    ImFont* font = canvas.fonts.text();
    const char text[] = "\u201E\u201C\u0153\u2581";  // missing in Dear ImGui's own font
    for (const int letter : {0x201E, 0x201C, 0x0153, 0x2581}) {
        CHECK(font->FindGlyphNoFallback(static_cast<ImWchar>(letter)) != nullptr);
    }
    CHECK(width_of(font, 16.0F, text, text + sizeof text - 1) > 20.0F);
}

TEST_CASE("joined letters are drawn as glyphs, once they are loaded") {
    Canvas canvas;
    const Text text{100.0, 100.0, 20.0, Anchor::Start, false, false, "سلام"};
    const Drawing drawing = drawing_of(text);
    CHECK(canvas.paint_on_background(drawing, {ImVec2(0.0F, 0.0F), 1.0F}).VtxBuffer.Size == 0);
    CHECK_FALSE(canvas.fonts.complete());
    canvas.next_frame();
    CHECK(canvas.fonts.complete());
    const ImDrawList& list = canvas.paint_on_background(drawing, {ImVec2(0.0F, 0.0F), 1.0F});
    CHECK(canvas.fonts.complete());
    REQUIRE(list.VtxBuffer.Size == 3 * 4);  // lam and alef are one glyph
    const Box box = box_of_vertices(list);
    const auto width = static_cast<float>(canvas.fonts.set(text.content, false)->width) * 20.0F;
    CHECK(box.left == Approx(100.0F).margin(3.0F));
    CHECK(box.right == Approx(100.0F + width).margin(3.0F));
    CHECK(box.bottom > 100.0F);  // meem has a tail below the line
    CHECK(box.top > 78.0F);
}

TEST_CASE("characters that the embedded font lacks are loaded from a font that has them") {
    int asked = 0;
    Canvas canvas([&](char32_t, bool) {
        ++asked;
        return std::vector<FontFile>{{HEADSCOPE_SOURCE_DIR "/tests/paint/two_characters.ttf", 0}};
    });
    constexpr ImWchar kMiddle = 0x4E2D;
    canvas.fonts.need("plain, and with \u2581 marks");
    CHECK(canvas.fonts.complete());
    canvas.fonts.need("中道");
    CHECK_FALSE(canvas.fonts.complete());
    CHECK(canvas.fonts.text()->FindGlyphNoFallback(kMiddle) == nullptr);
    canvas.next_frame();
    REQUIRE(canvas.fonts.text()->FindGlyphNoFallback(kMiddle) != nullptr);
    canvas.fonts.need("中道");  // no font has the second
    CHECK(canvas.fonts.complete());
    CHECK(asked == 2);

    const Text text{100.0, 100.0, 20.0, Anchor::Start, false, false, "中文"};
    const Drawing drawing = drawing_of(text);
    canvas.paint_on_background(drawing, {ImVec2(0.0F, 0.0F), 1.0F});
    canvas.next_frame();
    const Box box = box_of_vertices(canvas.paint_on_background(drawing, {ImVec2(0.0F, 0.0F), 1.0F}));
    CHECK(box.left == Approx(100.0F).margin(1.5F));
    CHECK(box.right == Approx(140.0F).margin(2.0F));  // each is as wide as the text is high
    CHECK(box.top == Approx(84.0F).margin(1.5F));
    CHECK(box.bottom == Approx(100.0F).margin(1.5F));
    CHECK(canvas.fonts.complete());
}

TEST_CASE("characters that no font has are drawn as boxes") {
    Canvas canvas([](char32_t, bool) { return std::vector<FontFile>(); });
    const Text text{100.0, 100.0, 20.0, Anchor::Start, false, false, "道"};
    const Drawing drawing = drawing_of(text);
    const Box box = box_of_vertices(canvas.paint_on_background(drawing, {ImVec2(0.0F, 0.0F), 1.0F}));
    CHECK(canvas.fonts.complete());
    CHECK(box.left == Approx(101.6F).margin(1.5F));
    CHECK(box.right == Approx(112.4F).margin(1.5F));
    CHECK(box.bottom == Approx(100.0F).margin(1.5F));
}

TEST_CASE("letters of the embedded font that the window does not load at first are loaded when drawn") {
    Canvas canvas([](char32_t, bool) { return std::vector<FontFile>(); });
    constexpr ImWchar kAyb = 0x0531;  // Armenian
    const Text text{100.0, 100.0, 20.0, Anchor::Start, false, false, "Ա"};
    const Drawing drawing = drawing_of(text);
    canvas.paint_on_background(drawing, {ImVec2(0.0F, 0.0F), 1.0F});
    CHECK_FALSE(canvas.fonts.complete());
    canvas.next_frame();
    CHECK(canvas.fonts.text()->FindGlyphNoFallback(kAyb) != nullptr);
}
