#include "figures/training_plot.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <set>

#include "support/check.h"
#include "tests/figures/layout_checks.h"

using namespace headscope;

namespace {

// Reports after every 10 steps, a validation after every 50.
TrainingLog log_of(int steps, double slower, bool bleu) {
    TrainingLog log;
    for (int step = 10; step <= steps; step += 10) {
        const double nll = 1.0 + 6.0 * std::exp(-step / slower);
        log.training.push_back({.step = step, .loss = nll + 0.5, .nll = nll, .learning_rate = 1e-3 / std::sqrt(step)});
        if (step % 50 == 0) {
            log.validation.push_back({.step = step, .loss = nll + 0.7, .nll = nll + 0.2});
            if (bleu) {
                log.validation.back().bleu = 40.0 - 3.0 * nll;
            }
        }
    }
    return log;
}

std::vector<std::string> texts_of(const Drawing& drawing, Role role) {
    std::vector<std::string> texts;
    for (const Primitive& primitive : drawing.primitives) {
        if (const auto* text = std::get_if<Text>(&primitive.shape); text != nullptr && primitive.mark.role == role) {
            texts.push_back(text->content);
        }
    }
    return texts;
}

std::size_t pieces_of(const Drawing& drawing, int series) {
    std::size_t pieces = 0;
    for (const Primitive& primitive : drawing.primitives) {
        pieces += primitive.mark.role == Role::Curve && primitive.mark.head == series ? 1 : 0;
    }
    return pieces;
}

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("a training run has one chart of losses, one of the learning rate and one of BLEU", "[plot]") {
    const Drawing drawing = draw_training_plot({{"small", log_of(500, 100.0, true)}}, {});
    CHECK(texts_of(drawing, Role::Title) == Texts{"Loss of small", "Learning rate", "BLEU"});
    CHECK(texts_of(drawing, Role::Legend) == Texts{"training", "validation"});
    // 50 reports of loss and rate; 10 validations of loss and BLEU.
    CHECK(pieces_of(drawing, 1) == 49 + 49 + 9);
    CHECK(pieces_of(drawing, 2) == 9);
}

TEST_CASE("missing measurements have no chart", "[plot]") {
    TrainingLog log = log_of(40, 100.0, false);
    CHECK(texts_of(draw_training_plot({{"a", log}}, {}), Role::Title) == Texts{"Loss of a", "Learning rate"});
    for (LossPoint& point : log.training) {
        point.learning_rate = std::nan("");
    }
    CHECK(texts_of(draw_training_plot({{"a", log}}, {}), Role::Title) == Texts{"Loss of a"});
    CHECK_THROWS_AS(draw_training_plot({{"a", {}}}, {}), Error);
    CHECK_THROWS_AS(draw_training_plot({{"a", log}}, {.from = 41}), Error);
}

TEST_CASE("the mean of the weights has its own curve if it was measured", "[plot]") {
    TrainingLog log = log_of(100, 100.0, false);
    log.validation[1].mean_nll = 1.5;
    const Drawing drawing = draw_training_plot({{"a", log}}, {});
    CHECK(texts_of(drawing, Role::Legend) == Texts{"training", "validation", "validation, mean of the weights"});
    CHECK(pieces_of(drawing, 3) == 1);  // an isolated point
}

TEST_CASE("several runs share axes, and each has one colour", "[plot]") {
    TrainingLog blind = log_of(300, 80.0, false);
    blind.validation.clear();
    const std::vector<PlottedRun> runs{
        {"first", log_of(500, 100.0, false)}, {"blind", blind}, {"last", log_of(400, 60.0, true)}};
    const Drawing drawing = draw_training_plot(runs, {});
    CHECK(texts_of(drawing, Role::Title) == Texts{"Loss in training", "Loss in validation", "Learning rate", "BLEU"});
    for (int series = 1; series <= 3; ++series) {
        std::set<std::string> colours;
        for (const Primitive& primitive : drawing.primitives) {
            if (primitive.mark.role == Role::Curve && primitive.mark.head == series) {
                colours.insert(to_hex(primitive.colour));
            }
        }
        CHECK(colours.size() == 1);
    }
    CHECK(pieces_of(drawing, 2) == 29 + 29);
    CHECK(texts_of(drawing, Role::Legend) ==
          Texts{"first", "blind", "last", "first", "last", "first", "blind", "last", "last"});
    CHECK(pieces_of(drawing, 3) == 39 + 7 + 39 + 7);
}

TEST_CASE("measurements of the same step line up vertically", "[plot]") {
    const Drawing drawing = draw_training_plot({{"a", log_of(500, 100.0, true)}}, {});
    std::vector<double> starts, ends;  // of the curves: training, validation, learning rate, BLEU
    for (const Primitive& primitive : drawing.primitives) {
        const auto* line = std::get_if<Line>(&primitive.shape);
        if (line != nullptr && primitive.mark.role == Role::Curve) {
            if (starts.empty() || line->x1 < ends.back() - 5.0) {
                starts.push_back(line->x1);
                ends.push_back(line->x2);
            }
            ends.back() = line->x2;
        }
    }
    REQUIRE(ends.size() == 4);
    for (const std::size_t curve : {1, 2, 3}) {
        CHECK(ends[curve] == Approx(ends[0]).margin(2.0));
    }
    CHECK(starts[2] == Approx(starts[0]).margin(2.0));
    CHECK(starts[3] == Approx(starts[1]).margin(2.0));
    CHECK(starts[1] > starts[0] + 10.0);
}

TEST_CASE("each measure of a training has a chart, in the order of the table", "[plot]") {
    TrainingLog log = log_of(100, 100.0, false);
    for (LossPoint& point : log.training) {
        point.measures = {{"length", 20.0}, {"kl", 0.01 * static_cast<double>(point.step)}, {"reward", 0.5}};
    }
    log.training.front().measures.erase("kl");
    const Drawing drawing = draw_training_plot({{"a", log}}, {});
    CHECK(texts_of(drawing, Role::Title) == Texts{"Loss of a", "Learning rate", "Reward", "KL divergence", "Length"});
    CHECK(pieces_of(drawing, 1) == 9 + 9 + 9 + 8 + 9);
    const std::vector<Drawing> charts = draw_measures(log, {});
    REQUIRE(charts.size() == 3);
    CHECK(charts[1].title == "KL divergence");
    CHECK(draw_measures(log_of(100, 100.0, false), {}).empty());
    CHECK(std::string(unit_of_loss(log)) == "nats per token, unsmoothed");
}

TEST_CASE("measures of comparisons are drawn with those of the validation", "[plot]") {
    TrainingLog log = log_of(100, 100.0, false);
    for (std::vector<LossPoint>* points : {&log.training, &log.validation}) {
        for (LossPoint& point : *points) {
            point.measures = {{"accuracy", 0.75}, {"margin", 0.5}};
        }
    }
    const std::vector<Drawing> charts = draw_measures(log, {});
    REQUIRE(charts.size() == 2);
    CHECK(charts[0].title == "Accuracy");
    CHECK(texts_of(charts[0], Role::Legend) == Texts{"training", "validation"});
    CHECK(std::string(unit_of_loss(log)) == "nats per prompt, unsmoothed");
    const std::vector<PlottedRun> runs{{"first", log}, {"second", log_of(100, 100.0, false)}};
    const Drawing both = draw_training_plot(runs, {});
    CHECK(texts_of(both, Role::Title).back() == "Margin");
    CHECK(texts_of(both, Role::Legend).back() == "first");
}

TEST_CASE("early steps can be skipped", "[plot]") {
    const Drawing drawing = draw_training_plot({{"a", log_of(500, 100.0, false)}}, {.from = 400});
    CHECK(pieces_of(drawing, 2) == 2);  // validations after 400, 450 and 500
}

TEST_CASE("the layout of training plots is valid in every style, with many and long names", "[plot]") {
    std::vector<PlottedRun> runs;
    for (int i = 0; i < 9; ++i) {
        runs.push_back({std::string(static_cast<std::size_t>(3 + 12 * i), 'n') + std::to_string(i),
                        log_of(200, 50.0 + i, i % 2 == 0)});
    }
    for (const std::size_t count : {1, 2, 9}) {
        const std::vector<PlottedRun> some(runs.begin(), runs.begin() + static_cast<std::ptrdiff_t>(count));
        for (const bool logarithmic : {false, true}) {
            test::check_looks(
                [&](const Look& look) { return draw_training_plot(some, {.logarithmic = logarithmic, .look = look}); });
        }
    }
}
