// Charts of what heads do over many sentences.
#include <catch2/catch.hpp>

#include "figures/corpus_drawings.h"
#include "layout_checks.h"

using namespace headscope;
using headscope::test::all_of;

namespace {

std::vector<CorpusFinding> findings() {
    CorpusFinding anaphora{.query = {CorpusRule::Anaphora}, .sentences = 190, .questions = 95};
    anaphora.site = {AttentionKind::EncoderSelf, 3};
    anaphora.head = 7;
    anaphora.measured = {0.61, {0.51, 0.70}};
    anaphora.baselines = {{"previous word", 0.0, 0.61, {0.5, 0.7}},
                          {"offset -3", 0.25, 0.36, {0.2, 0.5}},
                          {"uniform", 0.11, 0.5, {0.4, 0.6}}};
    CorpusFinding structure = anaphora;
    structure.query = {CorpusRule::Structure};
    structure.measured = {1.0, {0.99, 1.0}};
    for (BaselineResult& baseline : structure.baselines) {
        baseline.rate = 1.0 - baseline.more;
    }
    return {anaphora, structure};
}

CorpusImportance importance(bool bleu) {
    CorpusImportance found{.choosing = 50, .measuring = 50, .translated = bleu ? 20U : 0U};
    const auto score = [&](double nll) {
        return CorpusScore{nll, bleu ? std::optional(30.0 - 3.0 * nll) : std::nullopt};
    };
    found.whole = found.choosing_whole = score(2.0);
    for (int head = 1; head <= 8; ++head) {
        found.heads.push_back({{AttentionKind::EncoderSelf, 0}, head, score(2.0 + 0.01 * head)});
    }
    for (const int left : {8, 4, 0}) {
        found.pruned.push_back({left, score(5.0 - 0.3 * left)});
    }
    found.pruned_at_random = {found.pruned, {{8, score(2.6)}, {4, score(6.0)}, {0, score(5.0)}}};
    return found;
}

}  // namespace

TEST_CASE("Findings: a point and an interval for the head and each baseline", "[corpus]") {
    test::check_looks([](const Look& look) { return draw_findings(findings(), look); });
    const Drawing drawing = draw_findings(findings(), {});
    const auto points = all_of<Polygon>(drawing, Role::Point);
    const auto bars = all_of<Rect>(drawing, Role::Bar);
    REQUIRE(points.size() == 8);
    REQUIRE(bars.size() == 8);
    const auto middle = [&](std::size_t i) {
        return 0.5 * (points[i].second.corners[0].x + points[i].second.corners[2].x);
    };
    for (std::size_t i = 0; i < 8; ++i) {
        CHECK(bars[i].second.x <= middle(i) + 1e-9);
        CHECK(bars[i].second.x + bars[i].second.width >= middle(i) - 1e-9);
    }
    const double scale = (middle(4) - middle(1)) / 1.0;  // from 0 to 1
    CHECK(middle(0) - middle(1) == Approx(0.61 * scale));
    // The interval of a baseline is that of its distance to the head: 0.61 - 0.5 to 0.61 - 0.2.
    CHECK(bars[2].second.x == Approx(middle(1) + 0.11 * scale));
    CHECK(bars[2].second.width == Approx(0.3 * scale));
    CHECK(all_of<Text>(drawing, Role::Value)[0].second.content == "0.61");
}

TEST_CASE("Importance over a test set: a grid of heads and the pruning curves", "[corpus]") {
    for (const bool bleu : {false, true}) {
        test::check_looks([&](const Look& look) { return draw_corpus_importance(importance(bleu), {}, look); });
        const Drawing drawing = draw_corpus_importance(importance(bleu), {}, {});
        CHECK(drawing.title == "What each head is worth over 50 translations");
        CHECK(all_of<Rect>(drawing, Role::Cell).size() == 8);
        CHECK(all_of<Text>(drawing, Role::Value)[7].second.content == "+80.00");  // nats of 1,000 tokens
        CHECK(all_of<Line>(drawing, Role::Curve).size() == (bleu ? 8 : 4));
    }
}
