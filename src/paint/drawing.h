// A figure as plain geometry: what a window, an SVG file or a bitmap paints, in order, with nothing left to decide.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "paint/palette.h"

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
    Note,    // Text: what was done to the tokens
    Frame,   // Rect: what belongs together, such as one head of an overview
    Grid,    // Line: a help for the eye
    Axis,    // Line or Text: an axis, its ticks and numbers
    Legend,  // what colours and shapes mean
    Cell,    // Rect: one number as a colour
    Bar,     // Rect: one number as a length
    Curve,   // Line: a piece of a curve
    Point,   // Polygon: one place of a curve
    Block,   // Rect: a part of the model
    Node,    // of a tree
    Edge,    // Line: from node to node, from block to block
    Label,   // Text: the name of any of these
    Value,   // Text: a number beside what it measures
};

// What a primitive stands for, for hovering and clicking; head and layer count from 1, query and key are columns from
// 0.
struct Mark {
    Role role = Role::Background;
    int head = 0;    // 0: no head
    int query = -1;  // -1: none
    int key = -1;
    std::string tip = {};  // what hovering says; may be empty
    int layer = 0;         // 0: no layer
    int item = -1;         // index of a node, block, step, checkpoint, ...; -1: none
};

struct Point {
    double x = 0.0;
    double y = 0.0;
    bool operator==(const Point&) const = default;
};

struct Rect {
    double x = 0.0;
    double y = 0.0;
    double width = 0.0;
    double height = 0.0;
    double radius = 0.0;  // of its corners
    double stroke = 0.0;  // 0: filled; else an outline of this width whose middle is the rectangle's edge
};

// Straight, with square ends exactly at its ends.
struct Line {
    double x1 = 0.0;
    double y1 = 0.0;
    double x2 = 0.0;
    double y2 = 0.0;
    double width = 0.0;
};

// Filled and convex, so that every painter can fill it; at least three corners.
struct Polygon {
    std::vector<Point> corners;
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

using Shape2d = std::variant<Rect, Line, Text, Polygon>;

struct Primitive {
    Mark mark;
    Colour colour;
    double alpha = 1.0;
    Shape2d shape;
};

struct Drawing {
    double width = 0.0;
    double height = 0.0;
    std::string title;        // "Input-Input Layer5"
    std::string description;  // the figure in words, for those who cannot see it
    std::vector<Primitive> primitives;
};

// For painters and scripts: one name for each role, as SVG classes have it ("attention", "cells").
const char* name_of(Role role);

}  // namespace headscope
