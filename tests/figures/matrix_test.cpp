// Heat maps and the overview of all heads: axes, colours, sizes.
#include <catch2/catch.hpp>

#include <chrono>
#include <cmath>
#include <numeric>
#include <set>

#include <fmt/format.h>

#include "figures/all_heads.h"
#include "figures/heat_map.h"
#include "layout_checks.h"
#include "samples.h"
#include "support/check.h"

using namespace headscope;
using headscope::test::all_of;

namespace {

// 2 queries by 3 keys, one head.
SelectedAttention small_content(std::vector<float> weights) {
    SelectedAttention content;
    content.title = "Output-Input Layer1";
    content.queries = {{"x", "x"}, {"yy", "yy"}};
    content.keys = {{"a", "a"}, {"b", "b"}, {"c", "c"}};
    content.heads = {1};
    content.model_heads = 1;
    content.weights = std::move(weights);
    return content;
}

// The lines of a drawing's note as one text.
std::string notes_of(const Drawing& drawing) {
    std::string note;
    for (const auto& [primitive, line] : all_of<Text>(drawing, Role::Note)) {
        note.append(note.empty() ? "" : " ").append(line.content);
    }
    return note;
}

}  // namespace

TEST_CASE("Keys behind a query are grey where the causal mask hides them", "[heat_map]") {
    SelectedAttention content = small_content({0.25F, 0, 0, 0, 1, 0});
    for (std::size_t i = 0; i < 3; ++i) {
        content.keys[i].first = static_cast<std::int64_t>(i);
    }
    content.queries[1].first = 1;
    const auto masked_in = [&] { return all_of<Rect>(draw_heat_map(content, 1, {}), Role::Grid); };
    CHECK(masked_in().empty());
    content.causal = true;
    const auto masked = masked_in();
    REQUIRE(masked.size() == 2);  // one for each row, not for the weights of 0 before a query
    CHECK(masked[0].second.width == Approx(2.0 * masked[1].second.width));
    CHECK(masked[0].second.x + masked[0].second.width == Approx(masked[1].second.x + masked[1].second.width));
    test::check_looks([&](const Look& look) { return draw_heat_map(content, 1, {.look = look}); });
    content.weights[2] = 0.5F;  // without the mask
    CHECK(masked_in().size() == 1);
    content.queries[1].count = 2;  // a word that ends behind its key
    CHECK(masked_in().empty());
}

TEST_CASE("A heat map's rows are queries, its columns keys", "[heat_map]") {
    const SelectedAttention content = small_content({0.25F, 0, 0.75F, 0, 1, 0});
    const Drawing drawing = draw_heat_map(content, 1, {});
    const auto cells = all_of<Rect>(drawing, Role::Cell);
    REQUIRE(cells.size() == 3);  // none for weights of 0
    const auto queries = all_of<Text>(drawing, Role::QueryLabel);
    const auto keys = all_of<Text>(drawing, Role::KeyLabel);
    REQUIRE(queries.size() == 2);
    REQUIRE(keys.size() == 3);
    for (const auto& [primitive, cell] : cells) {
        const Text& row = queries[static_cast<std::size_t>(primitive.mark.query)].second;
        const Text& column = keys[static_cast<std::size_t>(primitive.mark.key)].second;
        CHECK(row.y > cell.y);
        CHECK(row.y < cell.y + cell.height);
        CHECK(row.x < cell.x);
        CHECK(column.x > cell.x);
        CHECK(column.x < cell.x + cell.width);
        CHECK(column.y < cell.y);
        CHECK(column.upwards);
        CHECK(cell.width == Approx(15.0));
        CHECK(primitive.colour ==
              scale_colour(static_cast<double>(content.weight(1, static_cast<std::size_t>(primitive.mark.query),
                                                              static_cast<std::size_t>(primitive.mark.key))),
                           kLightInk));
        CHECK(primitive.alpha == 1.0);
    }
    CHECK(cells[1].first.mark.query == 0);
    CHECK(cells[1].first.mark.key == 2);
    CHECK(cells[1].first.mark.tip == "head 1: x \u2192 c 0.75");
    CHECK(cells[2].second.y == Approx(cells[0].second.y + 15.0));
    CHECK(cells[2].second.x == Approx(cells[0].second.x + 15.0));
}

TEST_CASE("A heat map's layout is valid in every style and shape", "[heat_map]") {
    for (const Scale scale : {Scale::Linear, Scale::Logarithmic, Scale::Diverging}) {
        test::check_looks(
            [&](const Look& look) { return draw_heat_map(test::cross_content(), 2, {.scale = scale, .look = look}); });
    }
    AttentionSelection options{.layer = 5, .words = {"making"}};
    const SelectedAttention content = select_attention(test::paper_record(), options);
    test::check_looks([&](const Look& look) { return draw_heat_map(content, 8, {.look = look}); });
    test::check_looks([&](const Look& look) { return draw_heat_map(content, 8, {.cell = 0.3, .look = look}); });
    const Drawing narrow = draw_heat_map(content, 8, {.cell = 0.3});
    CHECK(all_of<Text>(narrow, Role::KeyLabel).size() == 7);  // every fourth
    CHECK(all_of<Rect>(narrow, Role::ChosenWord).size() == 1);
    CHECK_THROWS_WITH(draw_heat_map(content, 9, {}), Catch::Matchers::Contains("head must be between 1 and 8"));
}

TEST_CASE("Heat maps and the overview have the notes of the figure", "[heat_map][all_heads]") {
    AttentionRecord record = test::cross_record();
    AttentionSelection options{.kind = AttentionKind::Cross, .layer = 2};
    const auto tiles = head_tiles(record, head_statistics(record), AttentionKind::Cross, HeadOrder::Model);
    CHECK(notes_of(draw_heat_map(select_attention(record, options), 1, {})).empty());
    CHECK(notes_of(draw_all_heads(record, tiles, {})).empty());
    record.edited = "head 2 of cross layer 1 off";
    record.source[1] = {"b", TokenKind::Piece};  // continues the previous word
    options.rows.show_special = false;
    const SelectedAttention content = select_attention(record, options);
    REQUIRE(content.note.starts_with("Edited: head 2 of cross layer 1 off. Pieces joined"));
    CHECK(notes_of(draw_heat_map(content, 1, {})) == content.note);
    CHECK(notes_of(draw_all_heads(record, tiles, {.note = "entropy in bits", .rows = options.rows})) ==
          fmt::format("entropy in bits. {} The numbers are of the model's own pieces, <BOS> and <EOS> among them.",
                      content.note));
    // Pictures without numbers under them.
    CHECK(notes_of(draw_all_heads(record, {{{AttentionKind::Cross, 0}, 1}}, {.rows = options.rows})) == content.note);
    // In pieces the numbers are of what is shown.
    CHECK(notes_of(draw_all_heads(record, tiles, {.rows = {.join_words = false}})) ==
          "Edited: head 2 of cross layer 1 off.");
    for (const bool lines : {false, true}) {
        test::check_looks([&](const Look& look) {
            return draw_all_heads(record, tiles, {.lines = lines, .rows = options.rows, .look = look});
        });
    }
    test::check_looks([&](const Look& look) { return draw_heat_map(content, 1, {.look = look}); });
}

TEST_CASE("Scales agree with their legends", "[heat_map]") {
    CHECK(place_on(Scale::Linear, 0.25, 1.0) == 0.25);
    CHECK(place_on(Scale::Linear, 0.25, 0.5) == 0.5);
    CHECK(place_on(Scale::Linear, 2.0, 1.0) == 1.0);
    CHECK(place_on(Scale::Logarithmic, 1.0, 1.0) == 1.0);
    CHECK(place_on(Scale::Logarithmic, 0.1, 1.0) == Approx(2.0 / 3.0));
    CHECK(place_on(Scale::Logarithmic, 0.001, 1.0) == Approx(0.0).margin(1e-12));
    CHECK(place_on(Scale::Logarithmic, 0.0, 1.0) == 0.0);
    CHECK(place_on(Scale::Diverging, -0.1, 0.2) == -0.5);
    // Differences: the largest absolute value is at the end.
    const Drawing drawing = draw_heat_map(small_content({-0.4F, 0, 0.2F, 0, 0.1F, 0}), 1, {.scale = Scale::Diverging});
    const auto cells = all_of<Rect>(drawing, Role::Cell);
    CHECK(cells[0].first.colour == diverging_colour(-1.0, kLightInk));
    CHECK(cells[1].first.colour == diverging_colour(0.5, kLightInk));
}

TEST_CASE("A heat map's TSV has one line per query", "[heat_map]") {
    CHECK(to_tsv(small_content({0.25F, 0, 0.75F, 0, 1, 0}), 1) == "\ta\tb\tc\nx\t0.25\t0\t0.75\nyy\t0\t1\t0\n");
    const float exact = std::nextafter(0.7F, 1.0F);
    const std::string text = to_tsv(small_content({exact, 0, 0, 0, 0, 0}), 1);
    CHECK(std::stof(text.substr(text.find("x\t") + 2)) == exact);
}

TEST_CASE("A sentence of 300 tokens is drawn fast enough", "[heat_map]") {
    std::string sentence;
    for (int i = 0; i < 299; ++i) {
        sentence += fmt::format("w{} ", i);
    }
    AttentionSelection options{.layer = 5};
    const SelectedAttention content = select_attention(test::paper_record(sentence, 0), options);
    const auto start = std::chrono::steady_clock::now();
    const Drawing drawing = draw_heat_map(content, 8, {.look = {.tips = false}});
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    INFO(drawing.primitives.size() << " primitives in " << took.count() << " ms");
    CHECK(drawing.primitives.size() < 300 * 40);  // faint cells are omitted
    CHECK(took.count() < 100.0);                  // an order of magnitude above what it takes
}

TEST_CASE("All heads are a layers x heads grid, or sorted", "[all_heads]") {
    const AttentionRecord record = test::cross_record();
    const auto tiles = head_tiles(record, head_statistics(record), AttentionKind::Cross, HeadOrder::Model);
    REQUIRE(tiles.size() == 6);
    CHECK(tiles[3].site.layer == 1);
    CHECK(tiles[3].head == 1);
    test::check_looks([&](const Look& look) { return draw_all_heads(record, tiles, {.look = look}); });
    test::check_looks([&](const Look& look) { return draw_all_heads(record, tiles, {.lines = true, .look = look}); });

    const Drawing drawing = draw_all_heads(record, tiles, {});
    const auto frames = all_of<Rect>(drawing, Role::Frame);
    REQUIRE(frames.size() == 12);  // a background and an outline each
    CHECK(frames[6].first.mark.layer == 2);
    CHECK(frames[6].first.mark.head == 1);
    CHECK(frames[6].first.mark.item == 3);
    CHECK(frames[6].second.x == frames[0].second.x);  // a row is a layer
    CHECK(frames[6].second.y > frames[0].second.y + frames[0].second.height);
    CHECK(frames[2].second.x > frames[0].second.x);
    CHECK_THAT(frames[6].first.mark.tip, Catch::Matchers::Contains("layer 2, head 1: entropy"));
    // Every name and value is in its tile.
    CHECK(all_of<Text>(drawing, Role::Label).size() == 6);
    CHECK(all_of<Text>(drawing, Role::Value).size() == 6);
    CHECK(all_of<Text>(drawing, Role::Label)[3].second.content == "L2 H1");
    for (const auto& [primitive, cell] : all_of<Rect>(drawing, Role::Cell)) {
        const Rect& frame = frames[2 * static_cast<std::size_t>(primitive.mark.item)].second;
        CHECK(cell.x >= frame.x - 1e-9);
        CHECK(cell.x + cell.width <= frame.x + frame.width + 1e-9);
        CHECK(cell.height == Approx(frame.height / 4.0));  // four queries
        CHECK(cell.width == Approx(frame.width / 7.0));    // seven keys
    }
    for (const HeadOrderRow& row : kHeadOrders) {
        const HeadOrder order = row.order;
        CHECK(&row_of(order) == &row);
        CHECK(parse_head_order(row.name) == order);
        if (order == HeadOrder::Model || order >= HeadOrder::Previous) {  // cross attention has no tokens before
            continue;
        }
        const auto sorted = head_tiles(record, head_statistics(record), AttentionKind::Cross, order);
        std::vector<double> values;
        for (const HeadTile& tile : sorted) {
            values.push_back(std::stod(tile.value));
        }
        if (order == HeadOrder::Entropy) {
            CHECK(std::is_sorted(values.begin(), values.end()));
        } else {
            CHECK(std::is_sorted(values.rbegin(), values.rend()));
        }
    }
    CHECK_THROWS_WITH(parse_head_order("size"),
                      Catch::Matchers::Contains("must be model, entropy, distance, sharpness, diagonal, "));
    const auto unmeasured = head_tiles(record, head_statistics(record), AttentionKind::Cross, HeadOrder::Induction);
    CHECK(unmeasured.front().value == "none");
    CHECK(draw_all_heads(record, {}, {}).primitives.size() == 2);
}

TEST_CASE("A head that is switched off has no number and is the last of every order", "[all_heads]") {
    AttentionRecord record = test::cross_record();
    for (SiteWeights& weights : record.sites) {
        if (weights.site == AttentionSite{AttentionKind::Cross, 0}) {
            const auto head = weights.values.begin();
            std::fill(head, head + weights.queries * weights.keys, 0.0F);
        }
    }
    for (const HeadOrder order : {HeadOrder::Entropy, HeadOrder::Distance, HeadOrder::Sharpness, HeadOrder::Diagonal}) {
        const auto tiles = head_tiles(record, head_statistics(record), AttentionKind::Cross, order);
        CHECK(std::count_if(tiles.begin(), tiles.end(), [](const HeadTile& tile) { return tile.off; }) == 1);
        CHECK(tiles.back().off);
        CHECK(tiles.back().head == 1);
        CHECK(tiles.back().value == "off");
        for (const bool lines : {false, true}) {
            const Drawing drawing = draw_all_heads(record, tiles, {.lines = lines});
            test::check_layout(drawing);
            const auto values = all_of<Text>(drawing, Role::Value);
            CHECK(std::count_if(values.begin(), values.end(),
                                [](const auto& text) { return text.second.content == "off"; }) == 2);
        }
    }
    CHECK(head_tiles(record, head_statistics(record), AttentionKind::Cross, HeadOrder::Model).front().off);
}

TEST_CASE("An overview shrinks to a width, but not below what holds its names", "[all_heads]") {
    const AttentionRecord record = test::cross_record();  // 3 heads
    const auto tiles = head_tiles(record, head_statistics(record), AttentionKind::Cross, HeadOrder::Model);
    const auto tile = [&](double width) {
        const Drawing drawing = draw_all_heads(record, tiles, {.width = width});
        test::check_layout(drawing);
        return all_of<Rect>(drawing, Role::Frame)[0].second.width;
    };
    const double whole = tile(0.0);
    const double unit = whole / 9.0;
    CHECK(tile(100.0) == whole);
    CHECK(tile(20.0) == Approx(((20.0 - 2.0 + 0.8) / 3.0 - 0.8) * unit));  // margins of 1, gaps of 0.8
    CHECK(tile(1.0) == Approx(kLeastTile * unit));
    // There is room for a swatch beside "L1 H1", but not beside "L100 H1": none has one.
    CHECK(all_of<Rect>(draw_all_heads(record, tiles, {.width = 1.0}), Role::Swatch).size() == 6);
    // The same for values: beside all names or none.
    auto valued = tiles;
    CHECK(all_of<Text>(draw_all_heads(record, valued, {}), Role::Value).size() == 6);
    valued[2].value = "a value wider than a tile";
    CHECK(all_of<Text>(draw_all_heads(record, valued, {}), Role::Value).empty());
    Thumbnails deep = reduce_heads(record, AttentionKind::Cross, false, {});
    deep.layers.resize(100, deep.layers[0]);
    auto named = tiles;
    named[5].site.layer = 99;
    CHECK(all_of<Rect>(draw_all_heads(deep, named, {.width = 1.0}), Role::Swatch).empty());
}

TEST_CASE("A matrix that is too large for a tile is max-pooled", "[all_heads]") {
    std::vector<float> values(50 * 30, 0.0F);
    values[49 * 30 + 29] = 0.5F;  // the last of both
    values[0 * 30 + 29] = 0.25F;
    values[26 * 30 + 0] = 0.75F;
    const SmallMatrix small = max_pooled(values.data(), 50, 30, 24);
    REQUIRE(small.rows == 24);
    REQUIRE(small.columns == 24);
    CHECK(small.values[23 * 24 + 23] == 0.5F);
    CHECK(small.values[23] == 0.25F);
    CHECK(small.values[12 * 24] == 0.75F);
    CHECK(std::accumulate(small.values.begin(), small.values.end(), 0.0F) == 1.5F);
    const SmallMatrix same = max_pooled(values.data(), 4, 6, 24);
    CHECK(same.values == std::vector<float>(values.begin(), values.begin() + 24));
}
