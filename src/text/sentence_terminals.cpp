#include "text/sentence_terminals.h"

#include <algorithm>
#include <array>

namespace headscope {

namespace {

struct Range {
    char32_t first, last;
};

// The two tables together are Sentence_Terminal in PropList.txt of Unicode 15.0.0, and U+2026.
constexpr auto kBeforeBlank = std::to_array<Range>({
    {0x0021, 0x0021},    // ! of Latin and many other scripts
    {0x002e, 0x002e},    // .
    {0x003f, 0x003f},    // ?
    {0x0589, 0x0589},    // Armenian
    {0x061d, 0x061f},    // Arabic
    {0x06d4, 0x06d4},    //
    {0x0700, 0x0702},    // Syriac
    {0x07f9, 0x07f9},    // N'Ko
    {0x0837, 0x0837},    // Samaritan
    {0x0839, 0x0839},    //
    {0x083d, 0x083e},    //
    {0x1362, 0x1362},    // Ethiopic
    {0x1367, 0x1368},    //
    {0x166e, 0x166e},    // Canadian syllabics
    {0x1803, 0x1803},    // Mongolian
    {0x1809, 0x1809},    //
    {0x2026, 0x2026},    // the ellipsis, which lacks the property
    {0x203c, 0x203d},    // double marks, the interrobang
    {0x2047, 0x2049},    //
    {0x2e2e, 0x2e2e},    // the reversed question mark
    {0x2e3c, 0x2e3c},    // shorthand
    {0x2e53, 0x2e54},    // medieval
    {0xa4ff, 0xa4ff},    // Lisu
    {0xa60e, 0xa60f},    // Vai
    {0xa6f3, 0xa6f3},    // Bamum
    {0xa6f7, 0xa6f7},    //
    {0x10f55, 0x10f59},  // Sogdian
    {0x10f86, 0x10f89},  // Old Uyghur
    {0x16af5, 0x16af5},  // Bassa Vah
    {0x16b37, 0x16b38},  // Pahawh Hmong
    {0x16b44, 0x16b44},  //
    {0x16e98, 0x16e98},  // Medefaidrin
    {0x1bc9f, 0x1bc9f},  // Duployan
});

constexpr auto kAnywhere = std::to_array<Range>({
    {0x0964, 0x0965},    // Devanagari and other scripts of India
    {0x104a, 0x104b},    // Myanmar
    {0x1735, 0x1736},    // scripts of the Philippines
    {0x1944, 0x1945},    // Limbu
    {0x1aa8, 0x1aab},    // Tai Tham
    {0x1b5a, 0x1b5b},    // Balinese
    {0x1b5e, 0x1b5f},    //
    {0x1b7d, 0x1b7e},    //
    {0x1c3b, 0x1c3c},    // Lepcha
    {0x1c7e, 0x1c7f},    // Ol Chiki
    {0x3002, 0x3002},    // the ideographic full stop
    {0xa876, 0xa877},    // Phags-pa
    {0xa8ce, 0xa8cf},    // Saurashtra
    {0xa92f, 0xa92f},    // Kayah Li
    {0xa9c8, 0xa9c9},    // Javanese
    {0xaa5d, 0xaa5f},    // Cham
    {0xaaf0, 0xaaf1},    // Meetei Mayek
    {0xabeb, 0xabeb},    //
    {0xfe52, 0xfe52},    // small forms
    {0xfe56, 0xfe57},    //
    {0xff01, 0xff01},    // full-width forms
    {0xff0e, 0xff0e},    //
    {0xff1f, 0xff1f},    //
    {0xff61, 0xff61},    // the half-width ideographic full stop
    {0x10a56, 0x10a57},  // Kharoshthi
    {0x11047, 0x11048},  // Brahmi
    {0x110be, 0x110c1},  // Kaithi
    {0x11141, 0x11143},  // Chakma
    {0x111c5, 0x111c6},  // Sharada
    {0x111cd, 0x111cd},  //
    {0x111de, 0x111df},  //
    {0x11238, 0x11239},  // Khojki
    {0x1123b, 0x1123c},  //
    {0x112a9, 0x112a9},  // Multani
    {0x1144b, 0x1144c},  // Newa
    {0x115c2, 0x115c3},  // Siddham
    {0x115c9, 0x115d7},  //
    {0x11641, 0x11642},  // Modi
    {0x1173c, 0x1173e},  // Ahom
    {0x11944, 0x11944},  // Dives Akuru
    {0x11946, 0x11946},  //
    {0x11a42, 0x11a43},  // Zanabazar Square
    {0x11a9b, 0x11a9c},  // Soyombo
    {0x11c41, 0x11c42},  // Bhaiksuki
    {0x11ef7, 0x11ef8},  // Makasar
    {0x11f43, 0x11f44},  // Kawi
    {0x16a6e, 0x16a6f},  // Mro
    {0x1da88, 0x1da88},  // SignWriting
});

template <std::size_t N>
bool holds(const std::array<Range, N>& ranges, char32_t c) {
    const auto range = std::lower_bound(ranges.begin(), ranges.end(), c,
                                        [](const Range& one, char32_t wanted) { return one.last < wanted; });
    return range != ranges.end() && range->first <= c;
}

}  // namespace

SentenceTerminal sentence_terminal(char32_t character) {
    if (holds(kBeforeBlank, character)) {
        return SentenceTerminal::BeforeBlank;
    }
    return holds(kAnywhere, character) ? SentenceTerminal::Anywhere : SentenceTerminal::None;
}

}  // namespace headscope
