#include "viewer/draw/glyph_fonts.h"

#include <algorithm>
#include <string_view>

namespace headscope::viewer {

namespace {

constexpr std::uint32_t kFirst = 0xE000;
constexpr std::size_t kMost = 0xF900 - kFirst;

class BigEndian {
public:
    explicit BigEndian(std::vector<std::uint8_t>& bytes) : bytes_(bytes) {}
    void put16(std::uint32_t value) {
        bytes_.push_back(static_cast<std::uint8_t>(value >> 8U));
        bytes_.push_back(static_cast<std::uint8_t>(value));
    }
    void put32(std::uint32_t value) {
        put16(value >> 16U);
        put16(value & 0xFFFFU);
    }

private:
    std::vector<std::uint8_t>& bytes_;
};

}  // namespace

// The tables of a font are found by a directory at `offset`: a count of tables (16 bits) at 4, and from 12 on for each
// a tag, a checksum, an offset in the file and a length (OpenType specification, "Organization of an OpenType Font").
std::vector<std::uint8_t> with_private_characters(std::span<const std::uint8_t> font, std::size_t offset,
                                                  std::span<const std::uint32_t> glyphs) {
    std::vector<std::uint8_t> file(font.begin(), font.end());
    file.resize((file.size() + 3) / 4 * 4);
    const auto table = static_cast<std::uint32_t>(file.size());
    BigEndian out(file);
    out.put16(0);   // the version of the table
    out.put16(1);   // subtables
    out.put16(3);   // Windows
    out.put16(10);  // all of Unicode
    out.put32(12);  // the subtable's offset in the table
    out.put16(12);  // its format: groups of characters
    out.put16(0);
    out.put32(static_cast<std::uint32_t>(16 + 12 * glyphs.size()));
    out.put32(0);  // no language
    out.put32(static_cast<std::uint32_t>(glyphs.size()));
    for (std::size_t i = 0; i < glyphs.size(); ++i) {
        out.put32(kFirst + static_cast<std::uint32_t>(i));
        out.put32(kFirst + static_cast<std::uint32_t>(i));
        out.put32(glyphs[i]);
    }
    std::vector<std::uint8_t> place;
    BigEndian(place).put32(table);
    BigEndian(place).put32(static_cast<std::uint32_t>(file.size()) - table);
    const std::size_t tables = static_cast<std::size_t>(file[offset + 4]) * 256 + file[offset + 5];
    for (std::size_t at = offset + 12; at < offset + 12 + 16 * tables; at += 16) {
        if (std::string_view(reinterpret_cast<const char*>(file.data() + at), 4) == "cmap") {
            std::ranges::copy(place, file.begin() + static_cast<std::ptrdiff_t>(at + 8));
        }
    }
    return file;
}

ImWchar GlyphFonts::character_of(const SetGlyph& glyph) {
    Use& use = uses_.try_emplace(glyph.face, Use{.face = glyph.face}).first->second;
    const auto known = use.characters.find(glyph.index);
    if (known != use.characters.end()) {
        return known->second;
    }
    if (use.glyphs.size() == kMost) {
        return 0;
    }
    const auto character = static_cast<ImWchar>(kFirst + use.glyphs.size());
    use.glyphs.push_back(glyph.index);
    use.characters.emplace(glyph.index, character);
    complete_ = false;
    return character;
}

void GlyphFonts::load(std::span<const float> sizes) {
    for (auto& [face, use] : uses_) {
        use.file = with_private_characters(face->bytes(), face->offset(), use.glyphs);
        use.range = {static_cast<ImWchar>(kFirst), static_cast<ImWchar>(kFirst + use.glyphs.size() - 1), 0};
        use.fonts.clear();
        ImFontConfig config;
        config.FontDataOwnedByAtlas = false;
        config.FontNo = face->face();
        config.OversampleH = 2;
        config.OversampleV = 1;
        for (const float size : sizes) {
            const auto height = static_cast<float>(face->line_height()) * size;
            use.fonts[size] = ImGui::GetIO().Fonts->AddFontFromMemoryTTF(
                use.file.data(), static_cast<int>(use.file.size()), height, &config, use.range.data());
        }
    }
    complete_ = true;
}

ImFont* GlyphFonts::font(const Typeface& face, float size) const {
    const auto use = uses_.find(&face);
    if (use == uses_.end() || use->second.fonts.empty()) {
        return nullptr;
    }
    const auto larger = use->second.fonts.lower_bound(size);
    return larger == use->second.fonts.end() ? use->second.fonts.rbegin()->second : larger->second;
}

}  // namespace headscope::viewer
