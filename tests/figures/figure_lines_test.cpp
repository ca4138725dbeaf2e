// Lines of several heads side by side, lines left out, and heads ranked.
#include <catch2/catch.hpp>

#include <cmath>
#include <map>

#include "figure_samples.h"
#include "figures/head_ranking.h"
#include "layout_checks.h"
#include "samples.h"

using namespace headscope;
using namespace headscope::test;
using Catch::Matchers::Contains;

namespace {

std::vector<std::pair<Primitive, Line>> lines_of(const Drawing& drawing) {
    return all_of<Line>(drawing, Role::Attention);
}

std::string note_of(const Drawing& drawing) {
    std::string note;
    for (const auto& [primitive, text] : all_of<Text>(drawing, Role::Note)) {
        note += text.content + " ";
    }
    return note;
}

// The distance between two parallel lines.
double apart(const Line& a, const Line& b) {
    const double x = a.x2 - a.x1;
    const double y = a.y2 - a.y1;
    return std::abs((b.x1 - a.x1) * y - (b.y1 - a.y1) * x) / std::hypot(x, y);
}

}  // namespace

TEST_CASE("Lines of a pair of words lie side by side and do not overlap", "[figure]") {
    const Drawing drawing = draw_figure(paper_record(), {.layer = 5}, {.side_by_side = true});
    std::map<std::pair<int, int>, std::map<int, Line>> pairs;
    for (const auto& [primitive, line] : lines_of(drawing)) {
        pairs[{primitive.mark.query, primitive.mark.key}][primitive.mark.head] = line;
    }
    int compared = 0;
    for (const auto& [pair, heads] : pairs) {
        for (auto one = heads.begin(); one != heads.end() && std::next(one) != heads.end(); ++one) {
            const auto next = std::next(one);
            CHECK(apart(one->second, next->second) ==
                  Approx((next->first - one->first) * one->second.width).margin(1e-6));
            ++compared;
        }
    }
    CHECK(compared > 20);
    check_layout(drawing);
    const auto alone = lines_of(draw_figure(paper_record(), {.layer = 5, .heads = {3}}, {.side_by_side = true}));
    const auto paper = lines_of(draw_figure(paper_record(), {.layer = 5, .heads = {3}}));
    REQUIRE(alone.size() == paper.size());
    CHECK(alone.front().second.x1 == paper.front().second.x1);
    CHECK(alone.front().second.width == paper.front().second.width);
}

TEST_CASE("Weak lines are left out and counted", "[figure]") {
    const AttentionRecord record =
        small_record({0.5F, 0.3F, 0.2F, 0.1F, 0.2F, 0.7F, 1.0F, 0.0F, 0.0F, 0.4F, 0.35F, 0.25F});
    const auto count = [&](const FigureOptions& options) {
        return lines_of(draw_figure(record, cross(), options)).size();
    };
    CHECK(count({}) == 10);
    CHECK(note_of(draw_figure(record, cross())).empty());
    CHECK(count({.least = 0.3}) == 6);
    CHECK_THAT(note_of(draw_figure(record, cross(), {.least = 0.3})), Contains("4 lines are hidden: below 0.30."));
    CHECK(count({.top = 1}) == 4);
    CHECK_THAT(note_of(draw_figure(record, cross(), {.top = 1})),
               Contains("6 lines are hidden: not among the 1 strongest of a word and head."));
    CHECK(count({.least = 0.45, .top = 1}) == 3);
    // A chosen word's slabs follow its lines.
    AttentionSelection chosen = cross();
    chosen.positions = {1};
    const auto slabs = [&](const FigureOptions& options) {
        return all_of<Rect>(draw_figure(record, chosen, options), Role::Slab).size();
    };
    CHECK(slabs({}) == 4);
    CHECK(slabs({.least = 0.3}) == 3);
    CHECK(slabs({.top = 1}) == 2);
}

TEST_CASE("A line names all heads of its pair, the largest weight first", "[figure]") {
    const AttentionRecord record =
        small_record({0.5F, 0.3F, 0.2F, 0.1F, 0.2F, 0.7F, 1.0F, 0.0F, 0.0F, 0.4F, 0.35F, 0.25F});
    const SelectedAttention shown = select_attention(record, cross());
    const std::vector<HeadWeight> heads =
        heads_of_line(shown, {.role = Role::Attention, .head = 1, .query = 0, .key = 0});
    REQUIRE(heads.size() == 2);
    CHECK(heads[0].head == 2);
    CHECK(heads[0].weight == Approx(1.0));
    CHECK(heads[1].weight == Approx(0.5));
    CHECK(heads_of_line(shown, {.role = Role::Swatch, .head = 1}).empty());
    const StrongestPair strongest = strongest_pair(shown);
    CHECK(strongest.head == 2);
    CHECK(strongest.query == 0);
    CHECK(strongest.key == 0);
}

TEST_CASE("A ranking lists heads with their pairs and the words to ask about", "[ranking]") {
    const AttentionRecord record = paper_record();
    const std::vector<TellingHead> ranking = rank_heads(record, {.rule = SentenceRule::Link});
    REQUIRE(ranking.size() == 8);
    const SelectedAttention words = select_attention(record, {.layer = 5});
    for (const std::size_t most : {std::size_t{24}, std::size_t{3}}) {
        const Drawing drawing = draw_head_ranking(words, ranking, Architecture::EncoderDecoder,
                                                  {.title = "Heads", .note = "By a rule.", .most = most});
        check_layout(drawing);
        CHECK(all_of<Text>(drawing, Role::QueryLabel).size() == words.queries.size());
        CHECK(all_of<Text>(drawing, Role::KeyLabel).size() == words.keys.size());
        const auto names = all_of<Text>(drawing, Role::Bar);
        CHECK(names.size() == 3 * std::min(most, ranking.size()));
        CHECK(names.front().first.mark.head == ranking.front().head);
        CHECK(names.front().first.mark.layer == 5);
    }
    CHECK_THAT(note_of(draw_head_ranking(words, ranking, Architecture::EncoderDecoder, {.most = 3})),
               Contains("The first 3 of 8 heads."));
    CHECK_THAT(note_of(draw_head_ranking(words, {}, Architecture::EncoderDecoder, {})), Contains("No head has such"));
}

TEST_CASE("The weights of a chosen word are written outside the slabs, in a line for each head", "[figure]") {
    const auto figure = [](bool looked_at) {
        const AttentionSelection selection{.layer = 5, .heads = {1, 2}, .positions = {7}, .looked_at = looked_at};
        return [selection](const Look& look) {
            return draw_figure(select_attention(paper_record(), selection), {.numbers = true, .look = look});
        };
    };
    for (const bool looked_at : {false, true}) {
        check_looks(figure(looked_at));
        const Drawing drawing = figure(looked_at)({});
        const auto slabs = all_of<Rect>(drawing, Role::Slab);
        const auto numbers = all_of<Text>(drawing, Role::Value);
        REQUIRE(!slabs.empty());
        REQUIRE(numbers.size() == slabs.size());
        for (std::size_t i = 0; i < slabs.size(); ++i) {
            const std::string& number = numbers[i].second.content;
            CHECK(std::stod("0" + number) == Approx(slabs[i].first.alpha).margin(number == "1" ? 1.0 : 0.0051));
            const Rect& slab = slabs[i].second;
            CHECK((looked_at ? numbers[i].second.y < slab.y : numbers[i].second.y > slab.y + slab.height));
        }
    }
    CHECK(all_of<Text>(draw_figure(paper_record(), {.layer = 5, .positions = {7}}), Role::Value).empty());
}
