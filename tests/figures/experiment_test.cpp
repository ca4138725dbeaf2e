// The table of an experiment: numbers beside the paper's, and both against the base.
#include <algorithm>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "figures/experiment_changes.h"
#include "figures/experiment_drawing.h"
#include "layout_checks.h"

using namespace headscope;

namespace {

using Row = ExperimentRow;

Row::Measured measured(SeedSpread perplexity, SeedSpread bleu) {
    return {.perplexity = perplexity, .bleu = bleu, .parameters = 2.15e6, .minutes = 18.0};
}

ExperimentTable example() {
    return {.folder = "x",
            .title = "Variations",
            .rows = {{.name = "base",
                      .ours = measured({8.0, 0.4}, {30.0, 0.5}),
                      .seeds = {1, 2},
                      .unfinished = {3},
                      .paper = {4.92, 25.8, 65e6}},
                     {.name = "A1",
                      .varied = "h 1, d_k 128, d_v 128",
                      .ours = measured({8.8, {}}, {28.5, {}}),
                      .seeds = {1},
                      .paper = {5.29, 24.9, {}}},
                     {.name = "A4", .varied = "h 32", .paper = {5.01, 25.4, {}}, .impossible = "d_k is 0.5"},
                     {.name = "big",
                      .varied = "d_model 256, d_ff 1024, h 16, P_drop 0.3, steps 3600",
                      .paper = {4.33, 26.4, 213e6},
                      .problems = {"seed 1: no disk"}}}};
}

std::vector<std::string> texts(const Drawing& drawing) {
    std::vector<std::string> all;
    for (const Primitive& primitive : drawing.primitives) {
        if (const auto* text = std::get_if<Text>(&primitive.shape)) {
            all.push_back(text->content);
        }
    }
    return all;
}

bool says(const Drawing& drawing, const std::string& wanted) {
    const std::vector<std::string> all = texts(drawing);
    return std::any_of(all.begin(), all.end(),
                       [&](const std::string& text) { return text.find(wanted) != std::string::npos; });
}

// The centres of dots (ours) or rings (the paper's), in the order in which they were drawn.
std::vector<Point> centres(const Drawing& drawing, bool rings) {
    std::vector<Point> found;
    for (const auto& [primitive, rect] : test::all_of<Rect>(drawing, Role::Value)) {
        if ((rect.stroke > 0.0) == rings) {
            found.push_back({rect.x + rect.width / 2.0, rect.y + rect.height / 2.0});
        }
    }
    return found;
}

}  // namespace

TEST_CASE("The layout of an experiment is valid in every style", "[experiment]") {
    test::check_looks([](const Look& look) { return draw_experiment(example(), {.chosen = 1, .look = look}); });
    ExperimentTable begun = example();
    for (Row& row : begun.rows) {
        row.ours.reset();
        row.seeds.clear();
    }
    test::check_looks([&](const Look& look) { return draw_experiment(begun, {.look = look}); });
    CHECK(says(draw_experiment(begun), "until the base model is trained"));
}

TEST_CASE("An experiment's numbers are beside the paper's", "[experiment]") {
    const Drawing drawing = draw_experiment(example());
    for (const char* text : {"Variations", "8.00 \u00B1 0.40", "4.92", "30.0 \u00B1 0.5", "25.8", "2.15", "65",
                             "2 + 1 begun", "8.80", "28.5", "impossible", "failed", "213",
                             "A4: impossible with this base: d_k is 0.5", "big: failed: seed 1: no disk"}) {
        CAPTURE(text);
        CHECK(says(drawing, text));
    }
    CHECK_FALSE(says(drawing, "until the base model is trained"));
}

TEST_CASE("Plots compare each row with the base, ours and the paper's on one axis", "[experiment]") {
    const Drawing drawing = draw_experiment(example(), {.look = {.text_size = 1.0}});
    const std::vector<Point> ours = centres(drawing, false);
    const std::vector<Point> paper = centres(drawing, true);
    REQUIRE(ours.size() == 2 + 2 + 1);  // perplexity, BLEU, legend
    REQUIRE(paper.size() == 4 + 4 + 1);
    CHECK(ours[0].x == Approx(paper[0].x));  // the base against itself
    CHECK(ours[0].y == paper[0].y);
    // 8.8 is 10 % more than 8; 5.29 is 7.52 % more than 4.92.
    CHECK((ours[1].x - ours[0].x) / (paper[1].x - paper[0].x) == Approx(10.0 / 7.5203).epsilon(1e-4));
    CHECK((paper[3].x - paper[0].x) / (ours[1].x - ours[0].x) == Approx(-11.9919 / 10.0).epsilon(1e-4));
    // BLEU: 1.5 and 0.9 less than the base's.
    CHECK((ours[3].x - ours[2].x) / (paper[5].x - paper[4].x) == Approx(-1.5 / -0.9));
    // One deviation each way: 0.4 of 8 is 5 %, half of the step to A1.
    const auto bars = test::all_of<Line>(drawing, Role::Value);
    REQUIRE(bars.size() == 2 * 3);
    CHECK(bars[0].second.x2 - bars[0].second.x1 == Approx(ours[1].x - ours[0].x));
    CHECK((bars[0].second.x1 + bars[0].second.x2) / 2.0 == Approx(ours[0].x));
}

TEST_CASE("Plots compare trainings with the same seeds", "[experiment]") {
    ExperimentTable table = example();
    table.rows[0].ours->perplexity.values = {7.6, 8.4};  // A1 was trained with the first of these seeds alone
    const ExperimentChanges changes = changes_of(table.rows, kExperimentMetrics[0]);
    REQUIRE(changes.ours[1].has_value());
    CHECK(changes.ours[1]->at == Approx((8.8 / 7.6 - 1.0) * 100.0));
    CHECK(changes.ours[0]->at == Approx(0.0).margin(1e-9));
    table.rows[1].seeds = {3};
    CHECK(changes_of(table.rows, kExperimentMetrics[0]).ours[1]->at == Approx(10.0));
}

TEST_CASE("A row responds over its whole width", "[experiment]") {
    const Drawing drawing = draw_experiment(example(), {.chosen = 1});
    const auto rows = test::all_of<Rect>(drawing, Role::Block);
    REQUIRE(rows.size() == 4);
    CHECK(rows[1].first.mark.item == 1);
    CHECK(rows[1].first.colour == kLightInk.chosen);
    CHECK(rows[0].first.colour == kLightInk.paper);
    CHECK(rows[1].first.mark.tip == "A1: h 1, d_k 128, d_v 128; 1 training of 18.0 minutes");
}
