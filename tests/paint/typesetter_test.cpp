// Text in scripts that the embedded font draws letter by letter, joins, orders, or lacks.
#include <algorithm>
#include <catch2/catch.hpp>
#include <iterator>
#include <string>
#include <vector>

#include "paint/typesetter.h"
#include "support/check.h"

using namespace headscope;

namespace {

const FontFile kTwoCharacters{HEADSCOPE_SOURCE_DIR "/tests/paint/two_characters.ttf", 0};

// A system whose only font has two characters, but is offered for all.
Typesetter small_system(int* asked) {
    return Typesetter([asked](char32_t, bool) {
        *asked += 1;
        // The first is no font.
        return std::vector<FontFile>{{HEADSCOPE_SOURCE_DIR "/LICENSE", 0}, kTwoCharacters};
    });
}

std::vector<std::uint32_t> indices(const SetText& set) {
    std::vector<std::uint32_t> found;
    std::ranges::transform(set.glyphs, std::back_inserter(found), &SetGlyph::index);
    return found;
}

}  // namespace

TEST_CASE("letters that stand side by side are set by the embedded font, one after another", "[typesetter]") {
    Typesetter typesetter;
    const Typeface face(false);
    for (const std::string text : {"", "AVA", "Straße", "Жя → ▁its", "a\xCC\x81", "zero\xE2\x80\x8Dwidth"}) {
        INFO(text);
        CHECK(typesetter.is_plain(text, false));
    }
    const SetText set = typesetter.set("AVA", false);
    REQUIRE(set.glyphs.size() == 3);
    CHECK(indices(set) == std::vector{face.index_of('A'), face.index_of('V'), face.index_of('A')});
    CHECK(set.glyphs[1].at.x == set.glyphs[0].face->glyph(face.index_of('A')).advance);  // no kerning
    CHECK(typesetter.set("zero\xE2\x80\x8Dwidth", false).glyphs.size() == 9);
}

TEST_CASE("Arabic letters join, from right to left", "[typesetter]") {
    Typesetter typesetter;
    const Typeface face(false);
    const std::string text = "سلام";  // seen, lam, alef, meem
    CHECK_FALSE(typesetter.is_plain(text, false));
    const SetText set = typesetter.set(text, false);
    REQUIRE(set.glyphs.size() == 3);                         // lam and alef are one
    CHECK(set.glyphs.front().index == face.index_of(U'م'));  // the last letter stands alone, on the left
    CHECK(set.glyphs.back().index != face.index_of(U'س'));   // the first one has the form of a beginning
    CHECK(std::ranges::is_sorted(set.glyphs, {}, [](const SetGlyph& glyph) { return glyph.at.x; }));
    CHECK(set.width > set.glyphs.back().at.x);
}

TEST_CASE("directions are mixed as they are read", "[typesetter]") {
    Typesetter typesetter;
    const Typeface face(false);
    // The order in memory is "a", space, alef, bet, space, "1", "2".
    const std::vector<std::uint32_t> seen = indices(typesetter.set("a אב 12", false));
    std::vector<std::uint32_t> wanted;
    for (const char32_t c : std::u32string(U"a 12 בא")) {
        wanted.push_back(face.index_of(c));
    }
    CHECK(seen == wanted);
}

TEST_CASE("characters that the embedded font lacks are set by a font that has them", "[typesetter]") {
    int asked = 0;
    Typesetter typesetter = small_system(&asked);
    const std::string text = "in 中文";
    CHECK_FALSE(typesetter.is_plain(text, false));
    const SetText set = typesetter.set(text, false);
    REQUIRE(set.glyphs.size() == 5);
    CHECK(set.glyphs[3].index == 1);
    CHECK(set.glyphs[4].index == 2);
    CHECK(set.glyphs[3].face == set.glyphs[4].face);
    CHECK(set.glyphs[3].face != set.glyphs[0].face);
    CHECK(set.glyphs[4].at.x == Approx(set.glyphs[3].at.x + 1.0));
    CHECK(set.glyphs[4].face->glyph(2).contours.at(0).size() == 4);  // closed
    CHECK(asked == 1);                                               // it is open then
    CHECK(set.glyphs[3].face->line_height() == Approx(1.0));
}

TEST_CASE("characters that no font has are boxes", "[typesetter]") {
    int asked = 0;
    Typesetter typesetter = small_system(&asked);
    for (int i = 0; i < 2; ++i) {
        const SetText set = typesetter.set("道", false);
        REQUIRE(set.glyphs.size() == 1);
        CHECK(set.glyphs[0].index == Typeface::kMissing);
        CHECK(set.width == Approx(0.7));
    }
    CHECK(asked == 1);
    Typesetter without([](char32_t, bool) { return std::vector<FontFile>(); });
    CHECK(without.set("中", true).glyphs.at(0).index == Typeface::kMissing);
}

TEST_CASE("a file that is no font is an error that names it", "[typesetter]") {
    using Catch::Matchers::Contains;
    const std::string no_font = HEADSCOPE_SOURCE_DIR "/LICENSE";
    CHECK_THROWS_WITH(Typeface(FontFile{no_font, 0}), Contains(no_font));
    CHECK_THROWS_WITH(Typeface(FontFile{"/nowhere.ttf", 0}), Contains("/nowhere.ttf"));
    CHECK_THROWS_WITH(Typeface(FontFile{kTwoCharacters.path, 1}), Contains("with the index 1"));
}
