// A constituency tree: words in a line, constituents above them.
#include <map>
#include <string>

#include <catch2/catch.hpp>

#include "figures/parse_tree_drawing.h"
#include "layout_checks.h"
#include "trees/tree_reader.h"

using namespace headscope;

namespace {

Tree tree_of(const std::string& line) {
    return parse_trees(line, "here").front();
}

}  // namespace

TEST_CASE("The layout of a parse tree is valid in every style", "[parse_tree]") {
    for (const char* line :
         {"(S (NP (DT The) (NN cat)) (VP (VBZ sleeps)) (. .))", "(UH Yes)",
          "(SBARQCAPTION (LONGLABEL (A a)) (ANOTHERLONG (B b)))", "(X (Y (Z (A a))) (B antidisestablishment))"}) {
        CAPTURE(line);
        test::check_looks([&](const Look& look) { return draw_parse_tree(tree_of(line), look); });
    }
}

TEST_CASE("Words are in a line, below their tags and constituents", "[parse_tree]") {
    const Drawing drawing = draw_parse_tree(tree_of("(S (NP (DT The) (NN cat)) (VP (VBZ sleeps)) (. .))"));
    CHECK(drawing.title == "The cat sleeps .");
    CHECK(drawing.description == "(S (NP (DT The) (NN cat)) (VP (VBZ sleeps)) (. .))");
    std::map<std::string, Point> at;
    for (const auto& [primitive, text] : test::all_of<Text>(drawing, Role::Label)) {
        at[text.content] = {text.x, text.y};
    }
    REQUIRE(at.size() == 10);  // the tag of the dot is a dot, too
    for (const char* word : {"cat", "sleeps", "."}) {
        CHECK(at[word].y == at["The"].y);
    }
    CHECK(at["The"].x < at["cat"].x);
    CHECK(at["cat"].x < at["sleeps"].x);
    CHECK(at["DT"].y < at["The"].y);
    CHECK(at["NP"].y < at["DT"].y);
    CHECK(at["S"].y < at["NP"].y);
    CHECK(at["NP"].x == Approx((at["The"].x + at["cat"].x) / 2.0));
    const auto boxes = test::all_of<Rect>(drawing, Role::Node);
    REQUIRE(boxes.size() == 3);
    CHECK(boxes[1].first.mark.tip == "NP: The cat");
    CHECK(boxes[1].first.mark.item == 1);
    CHECK(test::all_of<Line>(drawing, Role::Edge).size() == 12);
}

TEST_CASE("A chosen constituent stands out with all below it", "[parse_tree]") {
    const Tree tree = tree_of("(S (NP (DT The) (NN cat)) (VP (VBZ sleeps)) (. .))");
    test::check_looks([&](const Look& look) { return draw_parse_tree(tree, look, 1); });
    const auto accented = [&](int chosen) {
        std::string words;
        for (const auto& [primitive, text] : test::all_of<Text>(draw_parse_tree(tree, {}, chosen), Role::Label)) {
            words += primitive.colour == kLightInk.accent && !text.bold ? text.content + " " : "";
        }
        return words;
    };
    CHECK(accented(-1).empty());
    CHECK(accented(1) == "DT The NN cat ");
    CHECK(accented(5) == "VBZ sleeps ");
    const auto boxes = test::all_of<Rect>(draw_parse_tree(tree, {}, 1), Role::Node);
    CHECK(boxes[1].first.colour == kLightInk.accent);
    CHECK(boxes[0].first.colour == kLightInk.surface);
}
