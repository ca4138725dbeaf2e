#include "text/case.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace headscope {

namespace {

// Capitals first .. last: each `step`-th letter from `first` on is a capital whose small letter is `distance` further.
struct Capitals {
    char32_t first, last;
    std::uint32_t step;
    std::int32_t distance;
};

// The simple lower case of every character below U+1F00 (Unicode 14), in ascending order. A block of pairs (capital,
// small letter, capital, ...) has step 2 and distance 1. U+03C2 is no capital, but the sigma of a word's end.
constexpr auto kCapitals = std::to_array<Capitals>(
    {{0x41, 0x5A, 1, 32},        {0xC0, 0xD6, 1, 32},        {0xD8, 0xDE, 1, 32},        {0x100, 0x12E, 2, 1},
     {0x130, 0x130, 1, -199},    {0x132, 0x136, 2, 1},       {0x139, 0x147, 2, 1},       {0x14A, 0x176, 2, 1},
     {0x178, 0x178, 1, -121},    {0x179, 0x17D, 2, 1},       {0x181, 0x181, 1, 210},     {0x182, 0x184, 2, 1},
     {0x186, 0x186, 1, 206},     {0x187, 0x187, 1, 1},       {0x189, 0x18A, 1, 205},     {0x18B, 0x18B, 1, 1},
     {0x18E, 0x18E, 1, 79},      {0x18F, 0x18F, 1, 202},     {0x190, 0x190, 1, 203},     {0x191, 0x191, 1, 1},
     {0x193, 0x193, 1, 205},     {0x194, 0x194, 1, 207},     {0x196, 0x196, 1, 211},     {0x197, 0x197, 1, 209},
     {0x198, 0x198, 1, 1},       {0x19C, 0x19C, 1, 211},     {0x19D, 0x19D, 1, 213},     {0x19F, 0x19F, 1, 214},
     {0x1A0, 0x1A4, 2, 1},       {0x1A6, 0x1A6, 1, 218},     {0x1A7, 0x1A7, 1, 1},       {0x1A9, 0x1A9, 1, 218},
     {0x1AC, 0x1AC, 1, 1},       {0x1AE, 0x1AE, 1, 218},     {0x1AF, 0x1AF, 1, 1},       {0x1B1, 0x1B2, 1, 217},
     {0x1B3, 0x1B5, 2, 1},       {0x1B7, 0x1B7, 1, 219},     {0x1B8, 0x1B8, 1, 1},       {0x1BC, 0x1BC, 1, 1},
     {0x1C4, 0x1C4, 1, 2},       {0x1C5, 0x1C5, 1, 1},       {0x1C7, 0x1C7, 1, 2},       {0x1C8, 0x1C8, 1, 1},
     {0x1CA, 0x1CA, 1, 2},       {0x1CB, 0x1DB, 2, 1},       {0x1DE, 0x1EE, 2, 1},       {0x1F1, 0x1F1, 1, 2},
     {0x1F2, 0x1F4, 2, 1},       {0x1F6, 0x1F6, 1, -97},     {0x1F7, 0x1F7, 1, -56},     {0x1F8, 0x21E, 2, 1},
     {0x220, 0x220, 1, -130},    {0x222, 0x232, 2, 1},       {0x23A, 0x23A, 1, 10795},   {0x23B, 0x23B, 1, 1},
     {0x23D, 0x23D, 1, -163},    {0x23E, 0x23E, 1, 10792},   {0x241, 0x241, 1, 1},       {0x243, 0x243, 1, -195},
     {0x244, 0x244, 1, 69},      {0x245, 0x245, 1, 71},      {0x246, 0x24E, 2, 1},       {0x370, 0x372, 2, 1},
     {0x376, 0x376, 1, 1},       {0x37F, 0x37F, 1, 116},     {0x386, 0x386, 1, 38},      {0x388, 0x38A, 1, 37},
     {0x38C, 0x38C, 1, 64},      {0x38E, 0x38F, 1, 63},      {0x391, 0x3A1, 1, 32},      {0x3A3, 0x3AB, 1, 32},
     {0x3C2, 0x3C2, 1, 1},       {0x3CF, 0x3CF, 1, 8},       {0x3D8, 0x3EE, 2, 1},       {0x3F4, 0x3F4, 1, -60},
     {0x3F7, 0x3F7, 1, 1},       {0x3F9, 0x3F9, 1, -7},      {0x3FA, 0x3FA, 1, 1},       {0x3FD, 0x3FF, 1, -130},
     {0x400, 0x40F, 1, 80},      {0x410, 0x42F, 1, 32},      {0x460, 0x480, 2, 1},       {0x48A, 0x4BE, 2, 1},
     {0x4C0, 0x4C0, 1, 15},      {0x4C1, 0x4CD, 2, 1},       {0x4D0, 0x52E, 2, 1},       {0x531, 0x556, 1, 48},
     {0x10A0, 0x10C5, 1, 7264},  {0x10C7, 0x10C7, 1, 7264},  {0x10CD, 0x10CD, 1, 7264},  {0x13A0, 0x13EF, 1, 38864},
     {0x13F0, 0x13F5, 1, 8},     {0x1C90, 0x1CBA, 1, -3008}, {0x1CBD, 0x1CBF, 1, -3008}, {0x1E00, 0x1E94, 2, 1},
     {0x1E9E, 0x1E9E, 1, -7615}, {0x1EA0, 0x1EFE, 2, 1}});

char32_t small_letter(char32_t c) {
    const auto* range =
        std::find_if(kCapitals.begin(), kCapitals.end(), [&](const Capitals& r) { return c <= r.last; });
    const bool capital = range != kCapitals.end() && c >= range->first && (c - range->first) % range->step == 0;
    return capital ? static_cast<char32_t>(static_cast<std::int32_t>(c) + range->distance) : c;
}

// Bytes of the character of one to three bytes that begins at `text`, or 0: all letters with case here have no more.
std::size_t letter_bytes(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const std::size_t bytes = byte(0) < 0x80                      ? 1
                              : byte(0) >= 0xC2 && byte(0) < 0xE0 ? 2
                              : (byte(0) & 0xF0) == 0xE0          ? 3
                                                                  : 0;
    const bool overlong = bytes == 3 && text.size() > 1 && byte(0) == 0xE0 && byte(1) < 0xA0;
    if (bytes > text.size() || overlong) {
        return 0;
    }
    for (std::size_t i = 1; i < bytes; ++i) {
        if ((byte(i) & 0xC0) != 0x80) {
            return 0;
        }
    }
    return bytes;
}

char32_t decode(std::string_view letter) {
    char32_t c = static_cast<unsigned char>(letter[0]);
    c &= letter.size() == 1 ? 0x7FU : letter.size() == 2 ? 0x1FU : 0x0FU;
    for (std::size_t i = 1; i < letter.size(); ++i) {
        c = (c << 6U) | (static_cast<unsigned char>(letter[i]) & 0x3FU);
    }
    return c;
}

void append(std::string& text, char32_t c) {
    if (c < 0x80) {
        text += static_cast<char>(c);
        return;
    }
    if (c < 0x800) {
        text += static_cast<char>(0xC0U | (c >> 6U));
    } else {
        text += static_cast<char>(0xE0U | (c >> 12U));
        text += static_cast<char>(0x80U | ((c >> 6U) & 0x3FU));
    }
    text += static_cast<char>(0x80U | (c & 0x3FU));
}

}  // namespace

std::string fold_case(std::string_view text) {
    std::string folded;
    folded.reserve(text.size());
    while (!text.empty()) {
        const std::size_t bytes = letter_bytes(text);
        const std::string_view letter = text.substr(0, std::max<std::size_t>(bytes, 1));
        const char32_t c = bytes == 0 ? 0 : decode(letter);
        const char32_t small = small_letter(c);
        if (bytes > 0 && small != c) {
            append(folded, small);
        } else {
            folded += letter;
        }
        text.remove_prefix(letter.size());
    }
    return folded;
}

}  // namespace headscope
