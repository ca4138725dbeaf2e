#include "figures/parse_tree_drawing.h"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "figures/layout.h"
#include "paint/text_width.h"

namespace headscope {

namespace {

constexpr double kLevel = 2.8;       // between a node and its children
constexpr double kWordsApart = 0.9;  // between two words
constexpr double kLetters = 0.75;    // height of a label
constexpr double kLineGap = 0.3;     // between a label and the lines to it
constexpr double kLine = 0.09;

// A node with the columns below it.
struct Placed {
    const Tree& tree;
    int item = 0;
    bool stands_out = false;
    int height = 0;      // levels above the tags
    double width = 0.0;  // of everything below it
    double x = 0.0;      // centre
    std::vector<Placed> children = {};
};

class ParseTreeDrawing {
public:
    ParseTreeDrawing(const Tree& tree, const Look& look, int chosen)
        : sketch_(look), ink_(sketch_.ink()), chosen_(chosen), root_(placed(tree, false)) {}

    Drawing draw() {
        place(root_, kMargin);
        lines(root_);
        boxes(root_);
        texts(root_);
        const double bottom = y_of(root_, 0) + kLevel / 2.0 + kLetters;
        return sketch_.finish(root_.width + 2.0 * kMargin, bottom + kMargin, words_of(root_.tree), to_line(root_.tree));
    }

private:
    Placed placed(const Tree& tree, bool stands_out) {
        Placed here{.tree = tree, .item = next_++};
        here.stands_out = stands_out || here.item == chosen_;
        for (const Tree& child : tree.children) {
            here.children.push_back(placed(child, here.stands_out));
            here.height = std::max(here.height, here.children.back().height + 1);
            here.width += here.children.back().width;
        }
        here.width =
            std::max({here.width, kBold * text_width(tree.label) + kWordsApart, text_width(tree.word) + kWordsApart});
        return here;
    }

    // From the left edge of its columns; a label wider than them has its children in the middle.
    void place(Placed& here, double left) {
        double below = 0.0;
        for (const Placed& child : here.children) {
            below += child.width;
        }
        double x = left + (here.width - below) / 2.0;
        for (Placed& child : here.children) {
            place(child, x);
            x += child.width;
        }
        here.x =
            here.children.empty() ? left + here.width / 2.0 : (here.children.front().x + here.children.back().x) / 2.0;
    }

    // The baseline of a label this many levels above the tags.
    static double y_of(const Placed& root, int height) {
        return kMargin + kLetters + kLevel * static_cast<double>(root.height - height);
    }

    // Right angles: a straight line to a low child could run behind the box of a higher one.
    void lines(const Placed& here) {
        if (here.children.empty()) {
            return;
        }
        const double turn = y_of(root_, here.height) + kLevel / 2.0 - kLetters / 2.0;
        edge(here, {here.x, y_of(root_, here.height) + kLineGap, here.x, turn, kLine});
        edge(here, {here.children.front().x - kLine / 2.0, turn, here.children.back().x + kLine / 2.0, turn, kLine});
        for (const Placed& child : here.children) {
            // Its upper end belongs to the parent: only what is below a constituent stands out with it.
            edge(here, {child.x, turn, child.x, y_of(root_, child.height) - kLetters - kLineGap, kLine}, child.item);
            lines(child);
        }
    }

    void edge(const Placed& above, const Line& line, int item = -1) {
        sketch_.line({.role = Role::Edge, .item = item < 0 ? above.item : item},
                     above.stands_out ? ink_.accent : ink_.off, line);
    }

    void boxes(const Placed& here) {
        if (here.children.empty()) {
            return;
        }
        const std::string tip = fmt::format("{}: {}", here.tree.label, words_of(here.tree));
        const double width = kBold * text_width(here.tree.label) + 2.0 * kLineGap;
        sketch_.rect({.role = Role::Node, .tip = sketch_.tips() ? tip : "", .item = here.item},
                     here.item == chosen_ ? ink_.accent : ink_.surface,
                     {.x = here.x - width / 2.0,
                      .y = y_of(root_, here.height) - kLetters - kLineGap,
                      .width = width,
                      .height = kLetters + 2.0 * kLineGap,
                      .radius = kLineGap});
        for (const Placed& child : here.children) {
            boxes(child);
        }
    }

    void text(const Placed& here, const std::string& content, double y, Colour colour, bool bold) {
        sketch_.text({.role = Role::Label, .item = here.item}, colour,
                     {.x = here.x, .y = y, .size = 1.0, .anchor = Anchor::Middle, .bold = bold, .content = content});
    }

    void texts(const Placed& here) {
        const double y = y_of(root_, here.height);
        const bool is_leaf = here.children.empty();
        const Colour label = is_leaf && !here.stands_out        ? ink_.faint
                             : !is_leaf && here.item == chosen_ ? ink_.paper
                                                                : ink_.accent;
        text(here, here.tree.label, y, label, !is_leaf);
        if (is_leaf) {
            text(here, here.tree.word, y + kLevel / 2.0, here.stands_out ? ink_.accent : ink_.text, false);
        }
        for (const Placed& child : here.children) {
            texts(child);
        }
    }

    Sketch sketch_;
    const Ink& ink_;
    const int chosen_;
    int next_ = 0;
    Placed root_;
};

}  // namespace

Drawing draw_parse_tree(const Tree& tree, const Look& look, int chosen) {
    return ParseTreeDrawing(tree, look, chosen).draw();
}

}  // namespace headscope
