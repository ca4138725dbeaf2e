// The logit lens, saliency and patching as drawings.
#include <catch2/catch.hpp>

#include <cmath>

#include "figures/inside_maps.h"
#include "figures/lens_drawing.h"
#include "layout_checks.h"

using namespace headscope;
using Catch::Matchers::Contains;

namespace {

ExploredStep lens_step(const std::string& best, double probability, std::int64_t rank) {
    return {.token = 1,
            .log_probability = std::log(0.5 * probability),
            .rank = rank,
            .candidates = {{1, best, std::log(probability)}, {2, "other", std::log(0.01)}}};
}

Lens small_lens() {
    return {.tokens = {{"<BOS>"}, {"\u2581the"}},
            .given = {"\u2581the", ""},
            .layers = {{"decoder.embedding", {lens_step("cat", 0.1, 7), lens_step("dog", 0.2, 0)}},
                       {"decoder.0.residual_out", {lens_step("\u2581the", 0.9, 1), lens_step("dog", 0.4, 0)}}}};
}

std::string all_texts(const Drawing& drawing) {
    std::string all;
    for (const Primitive& primitive : drawing.primitives) {
        if (const auto* text = std::get_if<Text>(&primitive.shape)) {
            all += text->content + "|";
        }
    }
    return all;
}

}  // namespace

TEST_CASE("The lens shows the likeliest piece after each layer, and frames the one that was written", "[lens]") {
    test::check_looks([](const Look& look) { return draw_lens(small_lens(), look); });
    const Drawing drawing = draw_lens(small_lens(), {});
    CHECK_THAT(all_texts(drawing), Contains("written|") && Contains("layer 1|\u00B7the|dog|") &&
                                       Contains("embedding|cat|dog|") && Contains("read|<BOS>|"));
    CHECK_THAT(drawing.description, Contains("\"\u2581the\" is the likeliest from layer 1 on"));
    const auto frames = test::all_of<Rect>(drawing, Role::Frame);
    const auto cells = test::all_of<Rect>(drawing, Role::Cell);
    REQUIRE(frames.size() == 1);
    REQUIRE(cells.size() == 4);
    CHECK(frames[0].second.x == cells[0].second.x);  // of the upper row, the last layer
    CHECK(frames[0].second.y == cells[0].second.y);
    CHECK(cells[2].second.y > cells[0].second.y);
    CHECK_THAT(cells[2].first.mark.tip, Contains("embedding, at \u201C<BOS>\u201D") && Contains("cat 0.100") &&
                                            Contains("written: \u2581the 0.050, number 7"));
}

TEST_CASE("Saliency has a row for each written piece, and joins what was read to words", "[saliency]") {
    Saliency saliency{.source = {{"\u2581small", TokenKind::Piece}, {"er", TokenKind::Piece}},
                      .target = {{"<BOS>", TokenKind::Begin}},
                      .predicted = {1, 2},
                      .predicted_texts = {"\u2581klein", "<EOS>"}};
    saliency.of_source = {.tokens = 2, .columns = 1, .embeddings = {1, 2}, .gradients = {0.5F, 0.25F, -1, 0}};
    saliency.of_target = {.tokens = 1, .columns = 1, .embeddings = {1}, .gradients = {0.1F, 0.2F}};
    test::check_looks([&](const Look& look) { return draw_saliency(saliency, {}, look); });
    const auto cells = test::all_of<Rect>(draw_saliency(saliency, {}, {}), Role::Cell);
    REQUIRE(cells.size() == 4);
    CHECK_THAT(cells[0].first.mark.tip, Contains("smaller: +1"));  // 0.5 * 1 + 0.25 * 2
    CHECK_THAT(cells[2].first.mark.tip, Contains("<EOS>, smaller: -1"));
    CHECK(test::all_of<Rect>(draw_saliency(saliency, {.join_words = false}, {}), Role::Cell).size() == 5);
}

TEST_CASE("Patching has a row for each layer, the last above", "[patching]") {
    PatchEffects found{.log_probability = -2.0, .from_log_probability = -5.0};
    const RecordedToken cat{"cat"}, dog{"dog"}, end{"<EOS>"};
    for (const char* site : {"encoder.0.residual_out", "encoder.1.residual_out"}) {
        found.effects.push_back({site, 0, cat, dog, site[8] == '0' ? -4.0 : -3.0});
        found.effects.push_back({site, 1, end, end, -1.5});
    }
    test::check_looks([&](const Look& look) { return draw_patching(found, look); });
    const Drawing drawing = draw_patching(found, {});
    CHECK_THAT(all_texts(drawing), Contains("layer 2|layer 1|cat \u2190 dog|<EOS>|") && Contains("Log P is -2.00"));
    const auto cells = test::all_of<Rect>(drawing, Role::Cell);
    REQUIRE(cells.size() == 4);
    CHECK_THAT(cells[0].first.mark.tip, Contains("layer 2, cat") && Contains("-1"));
    CHECK_THAT(cells[2].first.mark.tip, Contains("layer 1, cat") && Contains("-2"));
}
