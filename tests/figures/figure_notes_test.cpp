// The note below a figure: joined, renormalised and edited weights. The labels of pairs.
#include <catch2/catch.hpp>

#include "figure_samples.h"
#include "figures/heat_map.h"
#include "observe/attention_table.h"
#include "paint/text_width.h"

using namespace headscope;
using namespace headscope::test;

TEST_CASE("Rows without the end are renormalised, and the figure notes it", "[figure]") {
    AttentionRecord record = paper_record();
    AttentionSelection options;
    options.layer = 5;
    options.rows.show_special = false;
    const SelectedAttention content = select_attention(record, options);
    CHECK(content.renormalised);
    for (std::size_t query = 0; query < content.queries.size(); ++query) {
        double sum = 0.0;
        for (std::size_t key = 0; key < content.keys.size(); ++key) {
            sum += static_cast<double>(content.weight(3, query, key));
        }
        CHECK(sum == Approx(1.0));
    }
    const auto notes = all_of<Text>(draw_figure(record, options), Role::Note);
    std::string said;
    for (const auto& note : notes) {
        said += note.second.content + " ";
    }
    CHECK_THAT(said, Catch::Matchers::Contains("renormalised"));
    options.rows.show_special = true;
    CHECK_FALSE(select_attention(record, options).renormalised);

    // A row with more than 99 % on the end is not rescaled, nor is a difference.
    record = small_record({0.009F, 0, 0.991F, 0.5F, 0.25F, 0.25F, 0.1F, -0.1F, 0, 0.01F, 0.02F, 0.97F});
    record.target_out[1] = {"\u2581y", TokenKind::Piece};
    AttentionSelection small = cross();
    small.rows.show_special = false;
    const SelectedAttention rest = select_attention(record, small);
    REQUIRE(rest.keys.size() == 2);
    CHECK(rest.weight(1, 0, 0) == 0.009F);
    CHECK(rest.weight(1, 1, 0) == Approx(2.0F / 3.0F));
    CHECK(rest.weight(2, 0, 0) == 0.1F);
    CHECK(rest.weight(2, 1, 0) == Approx(1.0F / 3.0F));
}

TEST_CASE("A figure notes joined pieces, but not whole words", "[figure]") {
    AttentionRecord record = small_record({1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0});
    CHECK(all_of<Text>(draw_figure(record, cross()), Role::Note).empty());
    record.source[1].text = std::string("b");  // continues the word "a"
    const auto notes = all_of<Text>(draw_figure(record, cross()), Role::Note);
    REQUIRE_FALSE(notes.empty());
    CHECK(notes[0].second.content.starts_with("Pieces joined"));
    AttentionSelection pieces = cross();
    pieces.rows.join_words = false;
    CHECK(all_of<Text>(draw_figure(record, pieces), Role::Note).empty());
}

TEST_CASE("A figure of an edited model notes that first", "[figure]") {
    AttentionRecord record = small_record({1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0});
    record.edited = std::string("head 2 of cross layer 1 off");
    CHECK(select_attention(record, cross()).note == "Edited: head 2 of cross layer 1 off.");
    record.source[1].text = std::string("b");
    AttentionSelection options = cross();
    options.rows.show_special = false;
    const std::string note = select_attention(record, options).note;
    CHECK(note.starts_with("Edited: head 2 of cross layer 1 off. Pieces joined to words: "));
    CHECK_THAT(note, Catch::Matchers::Contains("averaged over queries. <BOS> and <EOS> left out: "));
    std::string drawn;
    for (const auto& [primitive, line] : all_of<Text>(draw_figure(record, options), Role::Note)) {
        drawn.append(drawn.empty() ? "" : " ").append(line.content);
    }
    CHECK(drawn == note);
    CHECK(attention_table(select_attention(record, options)).ends_with("\n" + note + "\n"));
    record.edited.clear();
    options = cross();
    options.rows.join_words = false;
    CHECK(select_attention(record, options).note.empty());
    CHECK(attention_table(select_attention(record, options)).ends_with("1.00\n"));
}

TEST_CASE("A note is no wider than the rest of the figure", "[figure]") {
    AttentionRecord record = small_record({1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0});
    AttentionSelection pieces = cross();
    pieces.rows.join_words = false;
    record.source[1].text = std::string("b");  // continues the word "a"
    const Drawing without = draw_figure(record, pieces);
    const Drawing drawing = draw_figure(record, cross());
    CHECK(drawing.width == Approx(without.width));
    const auto notes = all_of<Text>(drawing, Role::Note);
    REQUIRE(notes.size() > 1);
    double last = all_of<Text>(drawing, Role::KeyLabel)[0].second.y + 70.0;
    std::string all;
    for (const auto& [primitive, note] : notes) {
        CHECK(note.x + text_width(note.content) * note.size <= drawing.width - 10.0 + 1e-9);
        CHECK(note.y > last);
        last = note.y;
        all += note.content + " ";
    }
    CHECK(all == "Pieces joined to words: weights summed over keys, averaged over queries. ");
    CHECK(all == select_attention(record, cross()).note + " ");
    CHECK(drawing.height == Approx(last + 10.0));
}

TEST_CASE("the labels of a pair's second text are coloured", "[figure]") {
    AttentionRecord record;
    record.family = Architecture::MaskedLm;
    record.encoder_layers = 1;
    record.source = {{"[CLS]", TokenKind::Begin},
                     {"one", TokenKind::Piece, true},
                     {"[SEP]", TokenKind::End},
                     {"two", TokenKind::Piece, true},
                     {"[SEP]", TokenKind::End}};
    record.sites = {made_up_weights({AttentionKind::EncoderSelf, 0}, 2, record.source, record.source)};
    const SelectedAttention selected =
        select_attention(record, {.kind = AttentionKind::EncoderSelf, .layer = 1, .heads = {1}});
    for (const Drawing& drawing : {draw_figure(selected, {}), draw_heat_map(selected, 1, {})}) {
        int coloured = 0;
        for (const Primitive& primitive : drawing.primitives) {
            const auto* text = std::get_if<Text>(&primitive.shape);
            if (text != nullptr && (text->content == "one" || text->content == "two" || text->content == "[SEP]")) {
                CHECK((primitive.colour == kLightInk.accent) == (text->content == "two"));
                coloured += primitive.colour == kLightInk.accent ? 1 : 0;
            }
        }
        CHECK(coloured == 2);
    }
}
