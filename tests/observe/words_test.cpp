// Joining pieces and their weights to words.
#include <catch2/catch.hpp>

#include "observe/selection.h"
#include "observe/words.h"
#include "paper_record.h"
#include "support/check.h"

using namespace headscope;

namespace {

std::vector<RecordedToken> pieces(const std::vector<std::string>& texts) {
    std::vector<RecordedToken> tokens;
    for (const std::string& text : texts) {
        tokens.push_back({text, TokenKind::Piece});
    }
    tokens.push_back({"<EOS>", TokenKind::End});
    return tokens;
}

std::vector<std::string> row_labels(const std::vector<std::string>& texts, const RowOptions& options = {}) {
    std::vector<std::string> found;
    for (const RowItem& item : make_row(pieces(texts), options)) {
        found.push_back(item.label);
    }
    return found;
}

using Labels = std::vector<std::string>;

}  // namespace

TEST_CASE("Pieces are joined to words, punctuation at their ends is separate", "[words]") {
    CHECK(row_labels({"▁mak", "ing", "▁its"}) == Labels{"making", "its", "<EOS>"});
    CHECK(row_labels({"▁opinion", "."}) == Labels{"opinion", ".", "<EOS>"});
    CHECK(row_labels({"▁„", "Ja", "“", "!"}) == Labels{"„", "Ja", "“", "!", "<EOS>"});
    CHECK(row_labels({"▁it", "'", "s"}) == Labels{"it's", "<EOS>"});
    CHECK(row_labels({"▁", "(", "we", ")"}) == Labels{"(", "we", ")", "<EOS>"});
    CHECK(row_labels({"▁", "Haus"}) == Labels{"Haus", "<EOS>"});
    CHECK(row_labels({"▁."}) == Labels{".", "<EOS>"});
    CHECK(row_labels({"▁"}) == Labels{"▁", "<EOS>"});
    CHECK(row_labels({}) == Labels{"<EOS>"});
    CHECK(row_labels({"▁mak", "ing"}, {.join_words = false}) == Labels{"▁mak", "ing", "<EOS>"});
}

TEST_CASE("Every token belongs to exactly one item, in order", "[words]") {
    const auto tokens = pieces({"▁", "„", "Das", "▁ist", "▁", "sch", "ön", "“", ",", "▁sag", "te", "▁sie", "."});
    for (const bool join : {true, false}) {
        std::int64_t next = 0;
        for (const RowItem& item : make_row(tokens, {.join_words = join})) {
            CHECK(item.first == next);
            next = item.first + item.count;
        }
        CHECK(next == static_cast<std::int64_t>(tokens.size()));
    }
}

TEST_CASE("Joined weights sum over keys and average over queries, so rows add up to 1", "[words]") {
    const auto tokens = pieces({"▁a", "b", "▁c"});
    const SiteWeights weights = test::made_up_weights({}, 2, tokens, tokens);
    const auto row = make_row(tokens, {});
    REQUIRE(row.size() == 3);
    const std::vector<float> joined = join_weights(weights, row, row);
    REQUIRE(joined.size() == 2 * 3 * 3);
    for (std::size_t i = 0; i < joined.size(); i += 3) {
        CHECK(joined[i] + joined[i + 1] + joined[i + 2] == Approx(1.0));
    }
    const float expected =
        (weights.at(1, 0, 0) + weights.at(1, 0, 1) + weights.at(1, 1, 0) + weights.at(1, 1, 1)) / 2.0F;
    CHECK(joined[9] == Approx(expected));
}

TEST_CASE("All occurrences of a word are found, or a given one", "[words]") {
    using Columns = std::vector<std::size_t>;
    const auto tokens = pieces({"▁be", "▁a", "▁be", "▁1", ":", "2", "▁be:2", "▁th", "at"});
    const auto row = make_row(tokens, {});
    CHECK(find_word(row, "be") == Columns{0, 2});
    CHECK(find_word(row, "be:1") == Columns{0});
    CHECK(find_word(row, "be:2") == Columns{4});  // a literal match wins
    CHECK(find_word(row, "1:2") == Columns{3});
    CHECK_THROWS_WITH(find_word(row, "be:3"), Catch::Matchers::Contains("be a be 1:2 be:2 that <EOS>"));
    CHECK_THROWS_AS(find_word(row, "be:0"), Error);
    CHECK_THROWS_AS(find_word(row, ":2"), Error);
    CHECK_THROWS_AS(find_word(row, ""), Error);
    // In a row of pieces, a word means all of its pieces.
    CHECK(find_word(make_row(tokens, {.join_words = false}), "that") == Columns{7, 8});
}

TEST_CASE("Words are found and counted by normal form", "[words]") {
    using Columns = std::vector<std::size_t>;
    const auto row =
        make_row(pieces({"▁caf\u00e9", "▁cafe\u0301", "▁fi", "sh", "▁1", "\u2044", "2", "▁1", ",", "000"}), {});
    for (const char* name : {"caf\u00e9", "cafe\u0301", "\uff43\uff41\uff46\u00e9"}) {
        CHECK(find_word(row, name) == Columns{0, 1});
        CHECK(find_word(row, std::string(name) + ":2") == Columns{1});
    }
    CHECK(find_word(row, "\ufb01sh") == Columns{2});
    CHECK(find_word(row, "\u00bd") == Columns{3});
    CHECK(find_word(row, "1,000") == Columns{4});
    CHECK_THROWS_AS(find_word(row, "cafe"), Error);
    CHECK_THROWS_AS(find_word(row, "\xff"), Error);
    CHECK(find_word(make_row(pieces({"▁\xff"}), {}), "\xff") == Columns{0});
}

TEST_CASE("A backslash escapes a comma", "[words]") {
    CHECK(named_words("its,Law") == Labels{"its", "Law"});
    CHECK(named_words("1\\,000,euros") == Labels{"1,000", "euros"});
    CHECK(named_words("\\,,\\\\") == Labels{",", "\\"});
    CHECK(named_words("\\\\,a") == Labels{"\\", "a"});
    CHECK(named_words("a\\b") == Labels{"a\\b"});
    CHECK(named_words("a\\") == Labels{"a\\"});
    CHECK(named_words(",") == Labels{"", ""});
    CHECK(named_word("1\\,0,0\\\\") == "1,0,0\\");
}

TEST_CASE("The note says which tokens are left out", "[words]") {
    const auto note = [](const std::vector<RecordedToken>& tokens, const RowOptions& rows) {
        AttentionRecord record;
        record.family = Architecture::CausalLm;
        record.target_in = tokens;
        record.decoder_layers = 1;
        record.sites = {test::made_up_weights({AttentionKind::DecoderSelf, 0}, 1, tokens, tokens)};
        const SelectedAttention selected =
            select_attention(record, {.kind = AttentionKind::DecoderSelf, .layer = 1, .rows = rows});
        CHECK(selected.renormalised == (selected.note.find(" left out") != std::string::npos));
        const std::string named = selected.renormalised ? selected.note.substr(0, selected.note.find(" left out")) : "";
        const std::size_t joined = named.rfind(". ");
        return joined == std::string::npos ? named : named.substr(joined + 2);
    };
    const RecordedToken begin{"<BOS>", TokenKind::Begin};
    const RecordedToken un{"\u2581un", TokenKind::Piece};
    const RecordedToken told{"told", TokenKind::Piece};
    const RecordedToken cat{"\u2581cat", TokenKind::Piece};
    const RowOptions no_first{.show_first = false};
    const RowOptions pieces{.join_words = false, .show_first = false};
    const RowOptions neither{.show_special = false, .show_first = false};
    CHECK(note({un, told, cat}, {}).empty());
    CHECK(note({un, told, cat}, no_first) == "The first word");
    CHECK(note({un, told, cat}, pieces) == "The first token");
    CHECK(note({begin, un, told}, no_first) == "The first token");
    CHECK(note({un, told}, no_first).empty());  // the only word of the row
    CHECK(note({begin, un, told}, neither) == "<BOS> and <EOS>");
    CHECK(note({un, told, cat}, neither) == "<BOS> and <EOS>, and the first word");
}
