// A figure as plain geometry: an ordered list of primitives that the window, SVG and PNG painters all draw alike.
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
    Note,    // Text: how the tokens were processed
    Frame,   // Rect: a group, such as one head of an overview
    Grid,    // Line: a guide line
    Axis,    // Line or Text: an axis, its ticks and numbers
    Legend,  // the meaning of colours and shapes
    Cell,    // Rect: a number as a colour
    Bar,     // Rect: a number as a length
    Curve,   // Line: a segment of a curve
    Point,   // Polygon: a point of a curve
    Block,   // Rect: a part of the model
    Node,    // a node of a tree
    Edge,    // Line: between nodes or blocks
    Label,   // Text: the name of any of these
    Value,   // Text: a number beside its subject
};

// What a primitive represents, for hovering and clicking. head and layer count from 1, query and key columns from 0.
struct Mark {
    Role role = Role::Background;
    int head = 0;    // 0: no head
    int query = -1;  // -1: none
    int key = -1;
    std::string tip = {};  // tooltip; may be empty
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
    double stroke = 0.0;  // 0: filled; else the width of an outline centred on the rectangle's edge
};

// A straight line with butt caps.
struct Line {
    double x1 = 0.0;
    double y1 = 0.0;
    double x2 = 0.0;
    double y2 = 0.0;
    double width = 0.0;
};

// Filled and convex, which every painter supports; at least three corners.
struct Polygon {
    std::vector<Point> corners;
};

enum class Anchor : std::uint8_t { Start, Middle, End };

// (x, y) is the anchor on the baseline. `upwards` rotates by 90 degrees counter-clockwise about it.
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
    std::string description;  // text alternative, for screen readers
    std::vector<Primitive> primitives;
};

// The SVG class of a role ("attention", "cells").
const char* name_of(Role role);

}  // namespace headscope
