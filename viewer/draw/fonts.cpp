#include "viewer/draw/fonts.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <span>

#include "drawing/font.h"

namespace headscope::viewer {

namespace {

constexpr float kTextSize = 16.0F;  // pixels at scale 1
constexpr float kLargeSize = 21.0F;
constexpr float kSmallSize = 13.0F;
constexpr float kHugeSize = 30.0F;  // of drawings that were zoomed in

// What the shipped font has of what European languages write, of the models' own signs and of what the window draws.
constexpr ImWchar kRanges[] = {
    0x0020, 0x024F,  // Latin
    0x02B0, 0x03FF,  // modifiers, accents, Greek
    0x0400, 0x052F,  // Cyrillic
    0x0590, 0x06FF,  // Hebrew, Arabic: letter by letter
    0x1E00, 0x1EFF,  // Latin with marks
    0x2000, 0x209F,  // punctuation, superscripts
    0x20A0, 0x20BF,  // currencies
    0x2100, 0x22FF,  // letters, arrows, mathematics
    0x2500, 0x26FF,  // boxes, blocks (the beginning of a word is U+2581), shapes, symbols
    0x2713, 0x2718,  // marks
    0xFFFD, 0xFFFD,  // what could not be read
    0,
};

}  // namespace

ImFont* Fonts::add(float size, bool bold) {
    const std::span<const std::uint8_t> bytes = font_bytes(bold);
    ImFontConfig config;
    config.FontDataOwnedByAtlas = false;
    config.OversampleH = 2;
    config.OversampleV = 1;
    config.PixelSnapH = false;
    // Dear ImGui only reads what it does not own.
    ImFont* font = ImGui::GetIO().Fonts->AddFontFromMemoryTTF(const_cast<std::uint8_t*>(bytes.data()),  // NOLINT
                                                              static_cast<int>(bytes.size()), size, &config, kRanges);
    faces_.push_back({size, bold, font});
    return font;
}

void Fonts::build(float scale) {
    faces_.clear();
    size_ = std::round(kTextSize * scale);
    add(std::round(kSmallSize * scale), false);
    text_ = add(size_, false);
    bold_ = add(size_, true);
    large_ = add(std::round(kLargeSize * scale), false);
    add(std::round(kHugeSize * scale), false);
    ImGui::GetIO().FontDefault = text_;
}

float Fonts::large_size() const {
    return std::round(kLargeSize / kTextSize * size_);
}

ImFont* Fonts::fitting(float size, bool bold) const {
    const Face* best = nullptr;
    for (const Face& face : faces_) {
        const bool nearer = best == nullptr || best->size < size;
        if (face.bold == bold && nearer) {
            best = &face;
        }
    }
    return best->font;
}

float width_of(ImFont* font, float size, const char* begin, const char* end) {
    return font->CalcTextSizeA(size, FLT_MAX, 0.0F, begin, end).x;
}

}  // namespace headscope::viewer
