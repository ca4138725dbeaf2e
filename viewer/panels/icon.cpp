#include "viewer/panels/icon.h"

#include <array>

#include "paint/palette.h"

namespace headscope::viewer {

namespace {

// In units of a square of 256.
constexpr double kWhole = 256.0;
constexpr double kEdge = 8.0;  // margin
constexpr double kRound = 52.0;
constexpr double kFirst = 52.0;  // centre of the first word of a row
constexpr double kPitch = 38.0;
constexpr double kAbove = 66.0;
constexpr double kBelow = 190.0;
constexpr double kDot = 24.0;
constexpr double kChosen = 34.0;
constexpr int kWords = 5;
constexpr int kChosenWord = 2;
constexpr Colour kPaper{0x1d, 0x24, 0x33};
constexpr Colour kRim{0x39, 0x44, 0x5a};
constexpr Colour kWord{0xf4, 0xf1, 0xe6};

// A line from a word above to a word below.
struct Thread {
    int above;
    int below;
    Colour colour;
    double width;
    double alpha;
};
constexpr std::array<Thread, 9> kThreads{{
    {0, 1, {0x8f, 0x9c, 0xb5}, 5.0, 0.55},
    {1, 0, {0x8f, 0x9c, 0xb5}, 5.0, 0.55},
    {3, 4, {0x8f, 0x9c, 0xb5}, 5.0, 0.55},
    {4, 3, {0x8f, 0x9c, 0xb5}, 5.0, 0.55},
    {2, 1, {0x3d, 0xc7, 0xa4}, 9.0, 1.0},
    {2, 2, {0x4d, 0xa3, 0xff}, 9.0, 1.0},
    {2, 3, {0xb8, 0x86, 0xf8}, 9.0, 1.0},
    {2, 0, {0xff, 0xc1, 0x4a}, 14.0, 1.0},
    {2, 4, {0xff, 0x6b, 0x5e}, 14.0, 1.0},
}};

double middle(int word) {
    return kFirst + word * kPitch;
}

}  // namespace

Drawing draw_icon(double side) {
    const double unit = side / kWhole;
    Drawing icon{.width = side,
                 .height = side,
                 .title = "Headscope",
                 .description = "Two rows of dots, and lines from one above to those below",
                 .primitives = {}};
    const auto square = [&](Colour colour, double edge, double stroke) {
        const double length = (kWhole - 2.0 * edge) * unit;
        icon.primitives.push_back(
            {{.role = Role::Frame},
             colour,
             1.0,
             Rect{edge * unit, edge * unit, length, length, (kRound - edge) * unit, stroke * unit}});
    };
    square(kPaper, kEdge, 0.0);
    square(kRim, kEdge + 1.5, 3.0);
    for (const Thread& thread : kThreads) {
        icon.primitives.push_back({{.role = Role::Attention},
                                   thread.colour,
                                   thread.alpha,
                                   Line{middle(thread.above) * unit, kAbove * unit, middle(thread.below) * unit,
                                        kBelow * unit, thread.width * unit}});
    }
    for (const double row : {kAbove, kBelow}) {
        for (int word = 0; word < kWords; ++word) {
            const double size = row == kAbove && word == kChosenWord ? kChosen : kDot;
            icon.primitives.push_back({{.role = Role::Node},
                                       kWord,
                                       1.0,
                                       Rect{(middle(word) - size / 2.0) * unit, (row - size / 2.0) * unit, size * unit,
                                            size * unit, size / 2.0 * unit}});
        }
    }
    return icon;
}

}  // namespace headscope::viewer
