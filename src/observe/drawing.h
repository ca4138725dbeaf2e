// A figure as plain geometry: what a window, an SVG file or a bitmap paints, in order, with nothing left to decide.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "observe/palette.h"

namespace headscope {

enum class Role : std::uint8_t {
    Background,
    Title,
    Swatch,       // Rect: one head, on or off
    SwatchLabel,  // Text: the head's number
    ChosenWord,   // Rect: the cell of a chosen query
    Slab,         // Rect: one head's weight on one key of the chosen word
    Attention,    // Line: one head's weight of one query on one key
    QueryLabel,
    KeyLabel,
    Note,  // Text: what was done to the tokens
};

// What a primitive stands for, for hovering and clicking; head counts from 1, query and key are columns from 0.
struct Mark {
    Role role = Role::Background;
    int head = 0;    // 0: no head
    int query = -1;  // -1: none
    int key = -1;
    std::string tip = {};  // what hovering says; may be empty
};

struct Rect {
    double x = 0.0;
    double y = 0.0;
    double width = 0.0;
    double height = 0.0;
};

struct Line {
    double x1 = 0.0;
    double y1 = 0.0;
    double x2 = 0.0;
    double y2 = 0.0;
    double width = 0.0;
};

enum class Anchor : std::uint8_t { Start, Middle, End };

// (x, y) is the anchor on the base line. Upwards: rotated 90 degrees counter-clockwise about it.
struct Text {
    double x = 0.0;
    double y = 0.0;
    double size = 0.0;
    Anchor anchor = Anchor::Start;
    bool upwards = false;
    bool bold = false;
    std::string content;
};

struct Primitive {
    Mark mark;
    Colour colour;
    double alpha = 1.0;
    std::variant<Rect, Line, Text> shape;
};

struct Drawing {
    double width = 0.0;
    double height = 0.0;
    std::string title;        // "Input-Input Layer5"
    std::string description;  // the figure in words, for those who cannot see it
    std::vector<Primitive> primitives;
};

}  // namespace headscope
