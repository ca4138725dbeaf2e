// Geometry, opacity and colours of figures, compared with the paper.
#include <catch2/catch.hpp>

#include <cmath>
#include <fstream>
#include <sstream>

#include "figure_samples.h"
#include "observe/attention_table.h"
#include "paint/text_width.h"
#include "tests/house/files.h"
#include "tests/paint/dump.h"

using namespace headscope;
using namespace headscope::test;

TEST_CASE("Figure 3 has the paper's measures", "[figure]") {
    const Drawing drawing = draw_figure(paper_record(), figure3());
    CHECK(drawing.title == "Input-Input Layer5");
    const auto queries = all_of<Text>(drawing, Role::QueryLabel);
    const auto keys = all_of<Text>(drawing, Role::KeyLabel);
    REQUIRE(queries.size() == 33);
    REQUIRE(keys.size() == 33);
    for (std::size_t i = 0; i + 1 < queries.size(); ++i) {
        CHECK(queries[i + 1].second.x - queries[i].second.x == Approx(15.0));
    }
    const auto swatches = all_of<Rect>(drawing, Role::Swatch);
    REQUIRE(swatches.size() == 8);
    CHECK(swatches[0].second.width == Approx(20.0));
    CHECK(swatches[0].second.height == Approx(20.0));
    CHECK(swatches[1].second.x == Approx(swatches[0].second.x + 20.0));  // touching

    const auto cells = all_of<Rect>(drawing, Role::ChosenWord);
    REQUIRE(cells.size() == 1);
    CHECK(cells[0].first.colour == Colour{0xd3, 0xd3, 0xd3});
    CHECK(cells[0].second.height == Approx(80.0));
    CHECK(cells[0].second.width == Approx(15.0));
    CHECK(cells[0].first.mark.query == 17);

    const double band_bottom = cells[0].second.y + 80.0;
    CHECK(swatches[0].second.y + 20.0 < cells[0].second.y);
    for (const auto& [primitive, line] : all_of<Line>(drawing, Role::Attention)) {
        CHECK(primitive.mark.query == 17);
        CHECK(line.width == Approx(2.0));
        CHECK(line.y1 == Approx(band_bottom));
        CHECK(line.y2 == Approx(band_bottom + 100.0));
        CHECK(line.x1 == Approx(cells[0].second.x + 7.5));
    }
    CHECK(queries[0].second.upwards);
    CHECK(queries[0].second.anchor == Anchor::Start);
    CHECK(queries[0].second.y == Approx(band_bottom - 2.0));
    CHECK(keys[0].second.anchor == Anchor::End);
    CHECK(keys[0].second.y == Approx(band_bottom + 100.0 + 2.0));
    CHECK(all_of<Text>(drawing, Role::Title)[0].second.size == Approx(21.0));
}

TEST_CASE("Figure 3 equals the golden file, primitive by primitive", "[figure]") {
    std::ifstream file(checkout_file("tests/figures/figure3.golden.txt"));
    REQUIRE(file);
    std::stringstream golden;
    golden << file.rdbuf();
    std::istringstream expected(golden.str());
    std::istringstream found(test::dump(draw_figure(paper_record(), figure3())));
    std::string wanted;
    std::string line;
    while (std::getline(expected, wanted)) {
        REQUIRE(std::getline(found, line));
        CHECK(line == wanted);
    }
    CHECK_FALSE(std::getline(found, line));
}

TEST_CASE("A line's opacity is the weight, and the faintest are omitted", "[figure]") {
    const float faint = 3.9F / 255.0F;
    const float visible = 4.1F / 255.0F;
    const AttentionRecord record =
        small_record({0.5F, 0.5F, 0.0F, faint, visible, 0.9F, 1.0F, 0.0F, 0.0F, 0.0F, 0.25F, 0.75F});
    const auto lines = all_of<Line>(draw_figure(record, cross()), Role::Attention);
    std::vector<std::tuple<int, int, int, double>> drawn;
    for (const auto& [primitive, line] : lines) {
        drawn.emplace_back(primitive.mark.head, primitive.mark.query, primitive.mark.key, primitive.alpha);
        CHECK(line.width == Approx(2.0));
    }
    const std::vector<std::tuple<int, int, int, double>> expected{
        {1, 0, 0, 0.5},  {1, 0, 1, 0.5}, {1, 1, 1, static_cast<double>(visible)}, {1, 1, 2, 0.9F}, {2, 0, 0, 1.0},
        {2, 1, 1, 0.25}, {2, 1, 2, 0.75}};
    CHECK(drawn == expected);
    CHECK(lines[0].first.colour == Colour{0x1f, 0x77, 0xb4});
    CHECK(lines.back().first.colour == Colour{0xff, 0x7f, 0x0e});
}

TEST_CASE("The overview divides opacities by the root of the active heads until a word is chosen", "[figure]") {
    const AttentionRecord record = small_record({0.5F, 0.5F, 0, 0, 0, 1, 1, 0, 0, 0, 0.25F, 0.75F});
    AttentionSelection options = cross();
    const FigureOptions overview{.overview = true};
    CHECK(all_of<Line>(draw_figure(record, options, overview), Role::Attention)[0].first.alpha ==
          Approx(0.5 / std::sqrt(2.0)));
    options.heads = {1};
    CHECK(all_of<Line>(draw_figure(record, options, overview), Role::Attention)[0].first.alpha == Approx(0.5));
    options.heads = {};
    options.words = {"x"};
    CHECK(all_of<Line>(draw_figure(record, options, overview), Role::Attention)[0].first.alpha == Approx(0.5));
}

TEST_CASE("A chosen word has slabs, one per active head, from top to bottom", "[figure]") {
    const AttentionRecord record = small_record({0.5F, 0.5F, 0, 0, 0, 1, 0.25F, 0, 0.75F, 0, 0, 1});
    AttentionSelection options = cross();
    CHECK(all_of<Rect>(draw_figure(record, options), Role::Slab).empty());
    options.words = {"x"};
    const auto slabs = all_of<Rect>(draw_figure(record, options), Role::Slab);
    REQUIRE(slabs.size() == 4);  // none for weights of 0
    CHECK(slabs[0].first.alpha == Approx(0.5));
    CHECK(slabs[0].second.height == Approx(40.0));
    CHECK(slabs[1].first.mark.head == 2);
    CHECK(slabs[1].first.mark.key == 0);
    CHECK(slabs[1].first.alpha == Approx(0.25));
    CHECK(slabs[1].second.y == Approx(slabs[0].second.y + 40.0));
    CHECK(slabs[0].second.x == Approx(10.0));
    CHECK(slabs[0].second.width == Approx(15.0));
    options.heads = {2};
    const auto alone = all_of<Rect>(draw_figure(record, options), Role::Slab);
    REQUIRE(alone.size() == 2);
    CHECK(alone[0].second.height == Approx(80.0));
    CHECK(alone[0].first.colour == Colour{0xff, 0x7f, 0x0e});
    // Two chosen queries: the mean of both.
    options.positions = {2};
    CHECK(all_of<Rect>(draw_figure(record, options), Role::ChosenWord).size() == 2);
    CHECK(all_of<Rect>(draw_figure(record, options), Role::Slab)[1].first.alpha == Approx(0.875));
}

TEST_CASE("A chosen key: its cell below, the lines that end there, slabs above", "[figure]") {
    // [heads 2, queries x y, keys of the source 3]; what two queries give one key.
    const AttentionRecord record = small_record({0.5F, 0.5F, 0, 0, 0, 1, 0.25F, 0, 0.75F, 0, 0, 1});
    AttentionSelection options = cross();
    options.looked_at = true;
    options.positions = {1};
    const Drawing drawing = draw_figure(record, options);
    const auto lines = all_of<Line>(drawing, Role::Attention);
    REQUIRE(lines.size() == 2);
    CHECK(lines[0].first.mark.key == 0);
    CHECK(lines[0].first.mark.query == 0);
    CHECK(lines[0].first.alpha == Approx(0.5));
    CHECK(lines[1].first.alpha == Approx(0.25));
    const auto cells = all_of<Rect>(drawing, Role::ChosenWord);
    REQUIRE(cells.size() == 1);
    CHECK(cells[0].first.mark.key == 0);
    const auto slabs = all_of<Rect>(drawing, Role::Slab);
    REQUIRE(slabs.size() == 2);
    CHECK(slabs[0].first.mark.query == 0);
    CHECK(slabs[0].second.y < lines[0].second.y1);
    CHECK(slabs[1].first.mark.head == 2);
    CHECK(slabs[1].first.mark.tip == "head 2: x 0.25");
    // With several keys, a query's slabs show the sum, as for a word of several pieces.
    options.positions = {1, 2};
    CHECK(all_of<Rect>(draw_figure(record, options), Role::Slab)[0].first.alpha == Approx(1.0));
}

TEST_CASE("Slabs are below the labels, and labels on top", "[figure]") {
    const Drawing drawing = draw_figure(paper_record(), figure3());
    std::size_t last_mark = 0;
    std::size_t first_label = drawing.primitives.size();
    for (std::size_t i = 0; i < drawing.primitives.size(); ++i) {
        const Role role = drawing.primitives[i].mark.role;
        if (role == Role::Slab || role == Role::ChosenWord || role == Role::Attention) {
            last_mark = i;
        }
        if (role == Role::KeyLabel || role == Role::QueryLabel) {
            first_label = std::min(first_label, i);
        }
    }
    CHECK(last_mark < first_label);
}

TEST_CASE("Swatches of heads that are off are lightened, and all have their number", "[figure]") {
    AttentionSelection options = figure3();
    options.heads = {5, 6};
    const Drawing drawing = draw_figure(paper_record(), options);
    const auto swatches = all_of<Rect>(drawing, Role::Swatch);
    CHECK(swatches[4].first.colour == Colour{0x94, 0x67, 0xbd});
    CHECK(swatches[3].first.colour == faded(Colour{0xd6, 0x27, 0x28}, kLightInk));
    const auto numbers = all_of<Text>(drawing, Role::SwatchLabel);
    REQUIRE(numbers.size() == 8);
    CHECK(numbers[7].second.content == "8");
    for (const auto& [primitive, line] : all_of<Line>(drawing, Role::Attention)) {
        CHECK((primitive.mark.head == 5 || primitive.mark.head == 6));
        CHECK(primitive.mark.tip.find("head ") == 0);
    }
}

TEST_CASE("Pads are hidden by default, the end is shown by default", "[figure]") {
    AttentionSelection options;
    options.layer = 5;
    options.heads = {1};
    CHECK(all_of<Text>(draw_figure(paper_record(), options), Role::QueryLabel).size() == 27);
    options.rows.show_special = false;
    CHECK(all_of<Text>(draw_figure(paper_record(), options), Role::QueryLabel).size() == 26);
}

TEST_CASE("A band grows with a long label, so that nothing is cut", "[figure]") {
    AttentionRecord record = small_record({1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0});
    record.source[1].text = "\u2581Donaudampfschifffahrtsgesellschaft";
    AttentionSelection options = cross();
    options.words = {"x"};
    const Drawing drawing = draw_figure(record, options);
    CHECK(all_of<Rect>(drawing, Role::ChosenWord)[0].second.height == Approx(80.0));
    const double slab = all_of<Rect>(drawing, Role::Slab)[0].second.height * 2.0;
    CHECK(slab > 180.0);
    CHECK(drawing.height > all_of<Text>(drawing, Role::KeyLabel)[0].second.y + 180.0);
}

TEST_CASE("Every length is a multiple of the text size", "[figure]") {
    const Drawing small = draw_figure(paper_record(), figure3());
    const Drawing large = draw_figure(paper_record(), figure3(), {.look = {.text_size = 20.0}});
    CHECK(large.width == Approx(2.0 * small.width));
    CHECK(large.height == Approx(2.0 * small.height));
    CHECK(all_of<Line>(large, Role::Attention)[0].second.width == Approx(4.0));
}

TEST_CASE("Errors for missing layers, heads and words list the existing ones", "[figure]") {
    AttentionSelection options = figure3();
    options.layer = 7;
    CHECK(message_of(paper_record(), options).find("between 1 and 6") != std::string::npos);
    options.layer = 4;
    CHECK(message_of(paper_record(), options).find("not recorded") != std::string::npos);
    for (const int head : {0, 9, -1}) {
        options = figure3();
        options.heads = {head};
        CHECK(message_of(paper_record(), options).find("head must be between 1 and 8") != std::string::npos);
    }
    options = figure3();
    options.words = {"its"};
    const std::string words = message_of(paper_record(), options);
    CHECK(words.find("'its' is not among: It is in this spirit") != std::string::npos);
    options = figure3();
    options.positions = {34};
    CHECK(message_of(paper_record(), options).find("position must be between 1 and 33") != std::string::npos);
    AttentionRecord broken = small_record({1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, std::nanf("")});
    CHECK(message_of(broken, cross()).find("damaged") != std::string::npos);
}

TEST_CASE("A window's figure equals the file's, with tips made on demand", "[figure]") {
    const SelectedAttention content = select_attention(paper_record(), figure3());
    const Drawing file = draw_figure(content);
    const Drawing window = draw_figure(content, {.look = {.tips = false}});
    REQUIRE(window.primitives.size() == file.primitives.size());
    int tips = 0;
    for (std::size_t i = 0; i < file.primitives.size(); ++i) {
        CHECK(window.primitives[i].mark.tip.empty());
        CHECK(figure_tip(content, window.primitives[i].mark) == file.primitives[i].mark.tip);
        tips += file.primitives[i].mark.tip.empty() ? 0 : 1;
        const int layer = file.primitives[i].mark.head > 0 ? 5 : 0;
        CHECK(window.primitives[i].mark.layer == layer);
    }
    CHECK(tips > 100);
}

TEST_CASE("The dark figure differs only in colours, and labels on slabs are readable", "[figure]") {
    const Drawing light = draw_figure(paper_record(), figure3());
    const Drawing dark = draw_figure(paper_record(), figure3(), {.look = {.ink = kDarkInk}});
    REQUIRE(dark.primitives.size() == light.primitives.size());
    for (std::size_t i = 0; i < dark.primitives.size(); ++i) {
        CHECK(dark.primitives[i].alpha == light.primitives[i].alpha);
        CHECK(dark.primitives[i].shape.index() == light.primitives[i].shape.index());
    }
    CHECK(dark.primitives[0].colour == kDarkInk.paper);
    for (const auto& [primitive, slab] : all_of<Rect>(dark, Role::Slab)) {
        CHECK(contrast(mixed(kDarkInk.paper, primitive.colour, primitive.alpha), kDarkInk.text) >= 4.5);
    }
    for (const auto& [primitive, label] : all_of<Text>(dark, Role::KeyLabel)) {
        CHECK(primitive.colour == kDarkInk.text);
    }
}
