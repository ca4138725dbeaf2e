// The steps of a translation, their candidates, and the beam as a tree.
#include <catch2/catch.hpp>

#include <map>
#include <set>

#include "figures/beam_tree_drawing.h"
#include "figures/candidates.h"
#include "figures/tree_rows.h"
#include "layout_checks.h"
#include "samples.h"

using namespace headscope;
using headscope::test::all_of;

TEST_CASE("The length of a candidate's bar is its probability", "[candidates]") {
    const Exploration exploration = test::exploration_sample();
    const Drawing drawing = draw_candidates(exploration, 0, {});
    const auto bars = all_of<Rect>(drawing, Role::Bar);
    REQUIRE(bars.size() == 6);  // a background and a bar each
    const double whole = bars[0].second.width;
    for (std::size_t i = 0; i < 3; ++i) {
        const NextCandidate& candidate = exploration.steps[0].candidates[i];
        CHECK(bars[2 * i + 1].second.width == Approx(std::exp(candidate.log_probability) * whole));
        CHECK(bars[2 * i + 1].first.mark.item == static_cast<int>(i));
    }
    const auto labels = all_of<Text>(drawing, Role::Label);
    REQUIRE(labels.size() == 4 + 3);
    CHECK(labels[4].second.content == "\u00B7Die");  // a dot marks the beginning of a word
    CHECK_FALSE(labels[4].second.bold);
    CHECK(labels[5].second.bold);  // the generated token
    CHECK(all_of<Polygon>(drawing, Role::Legend).size() == 1);
    CHECK(all_of<Text>(drawing, Role::Value)[0].second.content == "55.0 %");
    CHECK(all_of<Rect>(drawing, Role::Frame).size() == 1);
    CHECK(all_of<Rect>(drawing, Role::Frame)[0].first.mark.item == 0);
}

TEST_CASE("Of gaps the texts that may stand there are drawn", "[candidates]") {
    Exploration exploration = test::exploration_sample();
    exploration.gaps = {
        {.token = 0,
         .log_probability = -0.5,
         .rank = 1,
         .candidates = {{0, " kleine Hund", -0.5}, {1, "", -1.5}},
         .position = 0},
        {.token = 0, .log_probability = -2.0, .rank = 1, .candidates = {{0, "", -2.0}}, .position = -1}};
    const Drawing drawing = draw_candidates(exploration, 0, {.gaps = true});
    CHECK(drawing.title == "Gap 1 of 2");
    const auto labels = all_of<Text>(drawing, Role::Label);
    REQUIRE(labels.size() == 2 + 2);
    CHECK(labels[1].second.content == "(not written)");
    CHECK(labels[2].second.content == "kleine Hund");
    CHECK(labels[2].second.bold);
    CHECK(labels[3].second.content == "(nothing)");
    CHECK(all_of<Text>(drawing, Role::Value)[0].second.content == "60.7 %");
    test::check_layout(drawing);
    test::check_layout(draw_candidates(exploration, 1, {.gaps = true}));
}

TEST_CASE("The generated token is shown even if it is not a candidate", "[candidates]") {
    Exploration exploration = test::exploration_sample();
    exploration.steps[1].token = 999;
    exploration.steps[1].rank = 57;
    exploration.steps[1].log_probability = -9.0;
    const Drawing drawing = draw_candidates(exploration, 1, {});
    const auto notes = all_of<Text>(drawing, Role::Note);
    REQUIRE(notes.size() == 1);
    CHECK(notes[0].second.content == "written, though of rank 57");
    CHECK(all_of<Text>(drawing, Role::Label).back().second.content == "\u00B7Gesetz");
    CHECK(all_of<Text>(drawing, Role::Value).back().second.content == "0.01 %");
    test::check_layout(drawing);
    exploration.steps[1].log_probability = -40.0;
    const Drawing unlikely = draw_candidates(exploration, 1, {});
    CHECK(all_of<Text>(unlikely, Role::Value).back().second.content == "< 0.001 %");
    test::check_layout(unlikely);
}

TEST_CASE("A masked language model's steps are masks", "[candidates]") {
    Exploration exploration;
    exploration.record.family = Architecture::MaskedLm;
    exploration.record.target_out = {{"\u2581cat"}};
    exploration.steps = {{.token = 7, .log_probability = -1.0, .rank = 1}};
    const Drawing drawing = draw_candidates(exploration, 0, {});
    CHECK(drawing.title == "Mask 1 of 1");
    CHECK(drawing.description == "1 token, each shaded by its probability.");
}

TEST_CASE("A rule separates a prompt from its continuation", "[candidates]") {
    Exploration exploration = test::exploration_sample();
    CHECK(all_of<Rect>(draw_candidates(exploration, 1, {}), Role::Edge).empty());
    exploration.prompt = 2;
    const Drawing drawing = draw_candidates(exploration, 1, {});
    const auto rules = all_of<Rect>(drawing, Role::Edge);
    const auto cells = all_of<Rect>(drawing, Role::Cell);
    REQUIRE(rules.size() == 1);
    CHECK(rules[0].second.x > cells[1].second.x + cells[1].second.width);
    CHECK(rules[0].second.x + rules[0].second.width < cells[2].second.x);
    test::check_looks([&](const Look& look) { return draw_candidates(exploration, 3, {.look = look}); });
}

TEST_CASE("The layout of candidates is valid in every style, also if narrow or empty", "[candidates]") {
    const Exploration exploration = test::exploration_sample();
    for (const int step : {-1, 0, 3}) {
        test::check_looks([&](const Look& look) { return draw_candidates(exploration, step, {.look = look}); });
    }
    const Drawing narrow = draw_candidates(exploration, 3, {.width = 12.0});
    test::check_layout(narrow);
    std::set<double> rows;
    for (const auto& [primitive, cell] : all_of<Rect>(narrow, Role::Cell)) {
        rows.insert(cell.y);
    }
    CHECK(rows.size() > 1);
    test::check_layout(draw_candidates({}, -1, {}));
}

TEST_CASE("The best path is the first row, and no two nodes share a position", "[beam]") {
    for (const auto& [beam, steps] : {std::pair(1, 3), {4, 9}, {30, 60}}) {
        const std::vector<BeamNode> nodes = test::beam_sample(beam, steps);
        for (const bool collapse : {false, true}) {
            const TreeRows tree = tree_rows(nodes, collapse);
            std::set<std::pair<int, int>> places;
            int shown = 0;
            int hidden = 0;
            for (std::size_t i = 0; i < nodes.size(); ++i) {
                hidden += tree.hidden[i];
                if (tree.row[i] < 0) {
                    CHECK(collapse);
                    CHECK_FALSE(nodes[i].best);
                    continue;
                }
                ++shown;
                CHECK(places.emplace(nodes[i].step, tree.row[i]).second);
                CHECK(tree.row[i] < tree.rows);
                if (nodes[i].best) {
                    CHECK(tree.row[i] == 0);
                }
                if (nodes[i].parent >= 0) {
                    CHECK(tree.row[i] >= tree.row[static_cast<std::size_t>(nodes[i].parent)]);
                }
                CHECK((!collapse || nodes[i].fate != BeamNode::Fate::Fell));
            }
            CHECK(shown + hidden == static_cast<int>(nodes.size()));
            CHECK(tree.rows <= 2 * beam + 2);  // rows are reused
        }
    }
    CHECK(tree_rows({}, false).rows == 0);
}

TEST_CASE("An edge does not cross nodes of the rows between", "[beam]") {
    // The edge's horizontal end lies in the child's part of its row; other branches in that row end before.
    const std::vector<BeamNode> nodes = test::beam_sample(6, 12);
    const TreeRows tree = tree_rows(nodes, false);
    for (std::size_t i = 1; i < nodes.size(); ++i) {
        const auto parent = static_cast<std::size_t>(nodes[i].parent);
        for (std::size_t j = 1; j < nodes.size(); ++j) {
            const bool same_row = tree.row[j] == tree.row[i] && j != i;
            const bool branches = tree.row[i] != tree.row[parent];
            if (same_row && branches) {
                CHECK(nodes[j].step != nodes[i].step);
                // The child's row is free at the parent's column; a node there would look like the parent.
                CHECK(nodes[j].step != nodes[parent].step);
            }
        }
    }
}

TEST_CASE("The layout of a beam tree is valid in every style, small, large and collapsed", "[beam]") {
    for (const auto& [beam, steps] : {std::pair(1, 1), {4, 9}, {30, 60}}) {
        const std::vector<BeamNode> nodes = test::beam_sample(beam, steps);
        for (const bool collapse : {false, true}) {
            test::check_layout(draw_beam_tree(nodes, {.collapse = collapse, .chosen = 1}));
        }
    }
    test::check_looks([&](const Look& look) { return draw_beam_tree(test::beam_sample(4, 9), {.look = look}); });
    test::check_layout(draw_beam_tree({}, {}));
    test::check_layout(draw_beam_tree(std::vector<BeamNode>(1), {}));
}

TEST_CASE("Vertical lines run between the columns, not through labels", "[beam]") {
    std::vector<BeamNode> nodes = test::beam_sample(6, 12);
    nodes[1].text = "\u2581Donaudampfschifffahrtsgesellschaft";  // a column wider than its neighbours
    const Drawing drawing = draw_beam_tree(nodes, {});
    int down = 0;
    for (const auto& [primitive, line] : all_of<Line>(drawing, Role::Edge)) {
        if (line.x1 != line.x2) {
            continue;
        }
        ++down;
        for (const Role role : {Role::Label, Role::Value}) {
            for (const auto& [other, text] : all_of<Text>(drawing, role)) {
                const Rect box = box_of(text);
                const bool beside = line.x1 < box.x || line.x1 > box.x + box.width;
                const bool apart = line.y2 < box.y || line.y1 > box.y + box.height;
                CHECK((beside || apart));
            }
        }
    }
    CHECK(down > 20);
}

TEST_CASE("Each fate has its own shape, and the reason is the tip", "[beam]") {
    const std::vector<BeamNode> nodes = test::beam_sample(4, 9);
    const Drawing drawing = draw_beam_tree(nodes, {});
    // For each fate: the number of rectangles, lines and polygons of a node.
    std::map<BeamNode::Fate, std::set<std::vector<int>>> shapes;
    for (std::size_t i = 1; i < nodes.size(); ++i) {
        std::vector<int> counts(4);
        for (const Primitive& primitive : drawing.primitives) {
            if (primitive.mark.role == Role::Node && primitive.mark.item == static_cast<int>(i)) {
                ++counts[primitive.shape.index()];
                const auto* rect = std::get_if<Rect>(&primitive.shape);
                counts[2] += rect != nullptr && rect->radius > 0.0 ? 1 : 0;
                CHECK(primitive.mark.tip.find("score") != std::string::npos);
                CHECK((primitive.mark.tip.find("a reason") != std::string::npos) ==
                      (nodes[i].fate != BeamNode::Fate::Open));
            }
        }
        shapes[nodes[i].fate].insert(counts);
    }
    std::set<std::vector<int>> all;
    CHECK(shapes.size() == 5);
    for (const auto& [fate, one] : shapes) {
        CHECK(one.size() == 1);
        all.insert(*one.begin());
    }
    CHECK(all.size() == 5);
    // The winning path is bold and thick.
    for (const auto& [primitive, line] : all_of<Line>(drawing, Role::Edge)) {
        CHECK((line.width > 2.0) == nodes[static_cast<std::size_t>(primitive.mark.item)].best);
    }
    for (const auto& [primitive, text] : all_of<Text>(drawing, Role::Label)) {
        CHECK(text.bold == nodes[static_cast<std::size_t>(primitive.mark.item)].best);
    }
}
