#include "viewer/draw/fonts.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <span>

#include "paint/font.h"
#include "support/utf8.h"

namespace headscope::viewer {

namespace {

constexpr float kTextSize = 16.0F;  // pixels at scale 1
constexpr float kLargeSize = 21.0F;
constexpr float kSmallSize = 13.0F;
constexpr float kHugeSize = 30.0F;   // for zoomed drawings
constexpr float kTitleSize = 56.0F;  // for their titles

// The characters of the embedded font to load: European scripts, SentencePiece's marker and the window's symbols.
constexpr ImWchar kRanges[] = {
    0x0020, 0x024F,  // Latin
    0x02B0, 0x03FF,  // modifiers, accents, Greek
    0x0400, 0x052F,  // Cyrillic
    0x0590, 0x06FF,  // Hebrew, Arabic: letter by letter
    0x1E00, 0x1EFF,  // Latin with marks
    0x2000, 0x209F,  // punctuation, superscripts
    0x20A0, 0x20BF,  // currencies
    0x2100, 0x22FF,  // letters, arrows, mathematics
    0x2500, 0x26FF,  // boxes, blocks (U+2581 begins a word), shapes, symbols
    0x2713, 0x2718,  // check marks and crosses
    0xFFFD, 0xFFFD,  // replacement character
    0,
};

// A small set for large titles and numbers, to save texture space.
constexpr ImWchar kLatin[] = {0x0020, 0x00FF, 0x2013, 0x2026, 0};

// The UTF-8 of a character above U+00FF begins with 0xC4 or more.
bool is_latin(std::string_view text) {
    return std::none_of(text.begin(), text.end(), [](char byte) { return static_cast<unsigned char>(byte) >= 0xC4; });
}

bool within(const ImWchar* ranges, char32_t character) {
    for (; *ranges != 0; ranges += 2) {
        if (character >= ranges[0] && character <= ranges[1]) {
            return true;
        }
    }
    return false;
}

}  // namespace

ImFont* Fonts::add(float size, bool bold, const ImWchar* ranges) {
    const std::span<const std::uint8_t> bytes = font_bytes(bold);
    ImFontConfig config;
    config.FontDataOwnedByAtlas = false;
    config.OversampleH = 2;
    config.OversampleV = 1;
    config.PixelSnapH = false;
    // Dear ImGui does not modify a font that it does not own.
    ImFont* font = ImGui::GetIO().Fonts->AddFontFromMemoryTTF(const_cast<std::uint8_t*>(bytes.data()),  // NOLINT
                                                              static_cast<int>(bytes.size()), size, &config, ranges);
    faces_.push_back({size, bold, ranges == kLatin, font});
    if (ranges == kRanges) {
        add_needed(config, size);
    }
    return font;
}

// Merges them into the font that was added last.
void Fonts::add_needed(ImFontConfig config, float size) {
    config.MergeMode = true;
    for (const auto& [face, ranges] : needed_) {
        const std::span<const std::uint8_t> bytes = face->bytes();
        config.FontNo = face->face();
        ImGui::GetIO().Fonts->AddFontFromMemoryTTF(const_cast<std::uint8_t*>(bytes.data()),  // NOLINT, as above
                                                   static_cast<int>(bytes.size()),
                                                   size * static_cast<float>(face->line_height()) / kLineHeight,
                                                   &config, ranges.data());
    }
}

void Fonts::build(float scale) {
    faces_.clear();
    size_ = std::round(kTextSize * scale);
    add(std::round(kSmallSize * scale), false, kRanges);
    text_ = add(size_, false, kRanges);
    bold_ = add(size_, true, kRanges);
    large_ = add(std::round(kLargeSize * scale), false, kRanges);
    add(std::round(kHugeSize * scale), false, kRanges);
    add(std::round(kHugeSize * scale), true, kLatin);
    add(std::round(kTitleSize * scale), false, kLatin);
    ImGui::GetIO().FontDefault = text_;
    complete_ = true;
    std::vector<float> sizes;  // of text, where those above are of lines
    for (const float size : {kSmallSize, kTextSize, kLargeSize, kHugeSize}) {
        sizes.push_back(std::round(size * scale / kLineHeight));
    }
    glyphs_.load(sizes);
}

const SetText* Fonts::set(const std::string& text, bool bold) {
    if (is_latin(text) || typesetter_.is_plain(text, bold)) {
        return nullptr;
    }
    constexpr std::size_t kKept = 4096;
    if (set_.size() > kKept) {
        set_.clear();
    }
    const auto [at, is_new] = set_.try_emplace({text, bold});
    if (is_new) {
        at->second = typesetter_.set(text, bold);
    }
    return &at->second;
}

void Fonts::need(std::string_view text) {
    if (is_latin(text)) {
        return;
    }
    for (std::size_t at = 0; at < text.size();) {
        const char32_t character = next_character(text, at);
        if (within(kRanges, character) || character > static_cast<char32_t>(IM_UNICODE_CODEPOINT_MAX)) {
            continue;
        }
        Typeface& face = typesetter_.face_for(character, false);
        if (face.index_of(character) == Typeface::kMissing) {
            continue;
        }
        std::vector<ImWchar>& ranges = needed_.try_emplace(&face, std::vector<ImWchar>{0}).first->second;
        if (!within(ranges.data(), character)) {
            const auto known = static_cast<ImWchar>(character);
            ranges.insert(ranges.begin(), {known, known});
            complete_ = false;
        }
    }
}

float Fonts::large_size() const {
    return std::round(kLargeSize / kTextSize * size_);
}

ImFont* Fonts::fitting(float size, bool bold, std::string_view text) const {
    const bool latin = is_latin(text);
    const Face* best = nullptr;
    for (const Face& face : faces_) {
        const bool nearer = best == nullptr || best->size < size;
        if (face.bold == bold && nearer && (latin || !face.latin)) {
            best = &face;
        }
    }
    return best->font;
}

float width_of(ImFont* font, float size, const char* begin, const char* end) {
    return font->CalcTextSizeA(size, FLT_MAX, 0.0F, begin, end).x;
}

}  // namespace headscope::viewer
