// Head statistics, derived records, and head search.
#include <catch2/catch.hpp>

#include <cmath>

#include "observe/derived_records.h"
#include "observe/head_search.h"
#include "observe/head_statistics.h"
#include "paper_record.h"
#include "support/check.h"

using namespace headscope;

namespace {

std::vector<RecordedToken> tokens(std::size_t words, TokenKind last = TokenKind::End) {
    std::vector<RecordedToken> row;
    for (std::size_t i = 0; i < words; ++i) {
        row.push_back({"\u2581w" + std::to_string(i), TokenKind::Piece});
    }
    row.push_back({last == TokenKind::End ? "<EOS>" : "<pad>", last});
    return row;
}

AttentionRecord encoder_record(std::vector<RecordedToken> source, std::int64_t heads, std::vector<float> values) {
    AttentionRecord record;
    record.encoder_layers = 1;
    const auto length = static_cast<std::int64_t>(source.size());
    record.source = std::move(source);
    record.sites.push_back({{AttentionKind::EncoderSelf, 0}, heads, length, length, std::move(values)});
    return record;
}

// All sites of a model of two layers and two heads, over 4 source and 3 target tokens.
AttentionRecord whole_record() {
    AttentionRecord record;
    record.encoder_layers = record.decoder_layers = 2;
    record.source = tokens(3);
    record.target_in = {{"<BOS>", TokenKind::Begin}, {"\u2581x", TokenKind::Piece}, {"\u2581y", TokenKind::Piece}};
    record.target_out = {{"\u2581x", TokenKind::Piece}, {"\u2581y", TokenKind::Piece}, {"<EOS>", TokenKind::End}};
    for (int layer = 0; layer < 2; ++layer) {
        for (const AttentionKind kind :
             {AttentionKind::EncoderSelf, AttentionKind::DecoderSelf, AttentionKind::Cross}) {
            record.sites.push_back(
                test::made_up_weights({kind, layer}, 2, query_tokens(record, kind), key_tokens(record, kind)));
        }
    }
    return record;
}

}  // namespace

TEST_CASE("A head's statistics are correct", "[statistics]") {
    // Queries: one attends to one key, one equally to two, one to the end.
    const AttentionRecord record = encoder_record(tokens(2), 1, {0, 0, 1, 0.5F, 0.5F, 0, 0, 0.25F, 0.75F});
    const HeadStatistics found = head_statistics(record).at(0);
    CHECK(found.head == 1);
    CHECK(found.entropy == Approx((0.0 + 1.0 + 0.8112781) / 3.0));
    CHECK(found.distance == Approx((2.0 + 0.5 + 0.25) / 3.0));
    CHECK(found.offset == Approx((2.0 - 0.5 - 0.25) / 3.0));
    CHECK(found.sharpness == Approx((1.0 + 0.5 + 0.75) / 3.0));
    CHECK(found.diagonal[0] == Approx((0.5 + 0.25) / 3.0));  // the key before
    CHECK(found.diagonal[1] == Approx((0.5 + 0.75) / 3.0));
    CHECK(found.diagonal[2] == Approx(0.0));
    CHECK(found.on_end == Approx((1.0 + 0.75) / 3.0));
    CHECK(found.on_diagonal() == Approx(2.0 / 3.0));
}

TEST_CASE("Repeated tokens look at what followed them before, or at their earlier places", "[statistics][search]") {
    // a b c a b d d a: of the tokens that stood there before, the second d follows the first, so it asks nothing.
    std::vector<RecordedToken> repeating;
    for (const char* text : {"a", "b", "c", "a", "b", "d", "d", "a"}) {
        repeating.push_back({text, TokenKind::Piece});
    }
    constexpr std::int64_t kLength = 8;
    AttentionRecord record = encoder_record(repeating, 3, std::vector<float>(3 * kLength * kLength, 0.0F));
    const auto look = [&](std::int64_t head, std::int64_t query, std::int64_t key, float weight) {
        record.sites[0].values[static_cast<std::size_t>(((head - 1) * kLength + query) * kLength + key)] = weight;
    };
    for (std::int64_t query = 0; query < kLength; ++query) {
        look(1, query, std::max<std::int64_t>(query - 1, 0), 0.5F);  // the token before
    }
    look(2, 3, 1, 1.0F);  // a after a b: b
    look(2, 4, 2, 0.5F);  // b after b c: c
    look(2, 7, 4, 0.5F);  // a after a b, of both places
    look(2, 7, 1, 0.25F);
    look(3, 3, 0, 1.0F);
    look(3, 4, 1, 1.0F);
    look(3, 7, 3, 0.5F);
    look(3, 6, 5, 1.0F);  // d after d
    const std::vector<HeadStatistics> found = head_statistics(record);
    CHECK(found[0].repeated == 3);
    CHECK(found[0].on_previous() == Approx(3.5 / 8.0));
    CHECK(found[1].induction == Approx((1.0 + 0.5 + 0.75) / 3.0));
    CHECK(found[1].duplicate == 0.0);
    CHECK(found[2].duplicate == Approx((1.0 + 1.0 + 0.5) / 3.0));
    CHECK(found[2].induction == 0.0);
    const auto best = [&](const char* rule) { return find_heads(record, {}, parse_head_query(rule)).front(); };
    CHECK(best("previous-token").head == 1);
    CHECK(best("induction").head == 2);
    CHECK(best("induction").value == Approx(0.75));
    CHECK(best("induction").what == "0.75 from repeated tokens on what followed them before");
    CHECK(best("duplicate-token").head == 3);
    for (RecordedToken& token : record.source) {
        token.text += std::to_string(&token - record.source.data());
    }
    CHECK_FALSE(head_statistics(record)[1].induction_if_any().has_value());
    for (const char* rule : {"previous-token", "induction"}) {
        CHECK_THROWS_WITH(find_heads(whole_record(), {.kind = AttentionKind::Cross}, parse_head_query(rule)),
                          Catch::Matchers::Contains("its keys are of another text"));
    }
    CHECK_THROWS_WITH(best("induction"), Catch::Matchers::Contains("no token of the text repeats an earlier one"));
}

TEST_CASE("Pads change no statistic", "[statistics]") {
    const AttentionRecord plain = encoder_record(tokens(1), 1, {0.25F, 0.75F, 1, 0});
    AttentionRecord padded = encoder_record(tokens(1), 1, {0.25F, 0.75F, 0, 1, 0, 0, 0.5F, 0, 0.5F});
    padded.source.push_back({"<pad>", TokenKind::Pad});
    padded.sites[0].queries = padded.sites[0].keys = 3;
    const HeadStatistics one = head_statistics(plain).at(0);
    const HeadStatistics other = head_statistics(padded).at(0);
    CHECK(one.entropy == other.entropy);
    CHECK(one.distance == other.distance);
    CHECK(one.sharpness == other.sharpness);
    CHECK(one.diagonal == other.diagonal);
    CHECK(one.on_end == other.on_end);
    // Nor do weights on a pad, which edits can cause.
    AttentionRecord looking = padded;
    looking.sites[0].values[2] = 0.5F;
    CHECK(head_statistics(looking).at(0).distance == other.distance);
    CHECK(head_statistics(looking).at(0).entropy == other.entropy);
}

TEST_CASE("Statistics stay in their bounds and come in the record's order", "[statistics]") {
    const AttentionRecord record = whole_record();
    const std::vector<HeadStatistics> all = head_statistics(record);
    REQUIRE(all.size() == 12);
    CHECK(all[3].site == AttentionSite{AttentionKind::DecoderSelf, 0});
    CHECK(all[3].head == 2);
    for (const HeadStatistics& one : all) {
        CHECK(one.entropy >= 0.0);
        CHECK(one.entropy <= 2.0 + 1e-6);
        CHECK(one.sharpness <= 1.0 + 1e-6);
        CHECK(one.sharpness >= 0.25);
        CHECK(std::abs(one.offset) <= one.distance + 1e-9);
        CHECK(one.on_diagonal() <= 1.0 + 1e-6);
    }
}

TEST_CASE("Rollout multiplies the layers, each mixed half with the identity", "[rollout]") {
    AttentionRecord record = encoder_record(tokens(1), 2, {0, 1, 1, 0, 1, 0, 1, 0});
    record.encoder_layers = 2;
    record.sites.push_back(record.sites.front());
    record.sites.back().site.layer = 1;
    const AttentionRecord result = rollout(record);
    // The heads' mean is {.5 .5, 1 0}; with the residual half {.75 .25, .5 .5}; squared:
    const std::vector<float> once{0.75F, 0.25F, 0.5F, 0.5F};
    const std::vector<float> twice{0.6875F, 0.3125F, 0.625F, 0.375F};
    CHECK(result.sites.at(0).values == once);
    CHECK(result.sites.at(1).values == twice);
    CHECK(result.sites[1].heads == 1);
    CHECK(result.derived == "attention rollout");
    AttentionSelection options;
    CHECK(select_attention(result, options).title == "Input-Input Layer1, attention rollout");
}

TEST_CASE("Rollout through the decoder: target and source shares add up to 1", "[rollout]") {
    AttentionRecord record = whole_record();
    for (const bool head_off : {false, true}) {
        if (head_off) {
            std::fill(record.sites[2].values.begin(), record.sites[2].values.begin() + 12, 0.0F);
        }
        const AttentionRecord result = rollout(record);
        REQUIRE(result.sites.size() == 6);
        for (int layer = 1; layer <= 2; ++layer) {
            const SiteWeights& encoder = find_site(result, AttentionKind::EncoderSelf, layer);
            const SiteWeights& own = find_site(result, AttentionKind::DecoderSelf, layer);
            const SiteWeights& cross = find_site(result, AttentionKind::Cross, layer);
            REQUIRE(cross.queries == 3);
            REQUIRE(cross.keys == 4);
            for (std::int64_t row = 0; row < 4; ++row) {
                double sum = 0.0;
                for (std::int64_t key = 0; key < 4; ++key) {
                    sum += static_cast<double>(encoder.at(0, row, key));
                }
                CHECK(sum == Approx(1.0));
            }
            for (std::int64_t row = 0; row < 3; ++row) {
                double source = 0.0, target = 0.0;
                for (std::int64_t key = 0; key < 4; ++key) {
                    source += static_cast<double>(cross.at(0, row, key));
                }
                for (std::int64_t key = 0; key < 3; ++key) {
                    target += static_cast<double>(own.at(0, row, key));
                }
                CHECK(source + target == Approx(1.0));
                CHECK(source > (layer == 1 ? 0.3 : 0.6));
            }
        }
    }
    record.sites.pop_back();
    CHECK_THROWS_WITH(rollout(record), Catch::Matchers::Contains("layer 2 of cross attention was not recorded"));
}

TEST_CASE("Means average, and a difference needs the same tokens", "[derived]") {
    const AttentionRecord record = encoder_record(tokens(1), 2, {0, 1, 1, 0, 0.5F, 0.5F, 1, 0});
    const AttentionRecord mean = mean_of_heads(record);
    CHECK(mean.sites.at(0).values == std::vector<float>{0.25F, 0.75F, 1, 0});
    CHECK(mean.sites[0].heads == 1);

    const AttentionRecord whole = whole_record();
    const AttentionRecord layers = mean_of_layers(whole);
    REQUIRE(layers.sites.size() == 3);
    CHECK(layers.sites[0].heads == 2);
    CHECK(layers.encoder_layers == 1);
    CHECK(layers.sites[2].at(1, 2, 3) == Approx((find_site(whole, AttentionKind::Cross, 1).at(1, 2, 3) +
                                                 find_site(whole, AttentionKind::Cross, 2).at(1, 2, 3)) /
                                                2.0F));

    AttentionRecord other = record;
    other.sites[0].values[1] = 0.25F;
    CHECK(difference(record, other).sites[0].values == std::vector<float>{0, 0.75F, 0, 0, 0, 0, 0, 0});
    CHECK(difference(record, other).edited.empty());
    other.edited = "head 1 of encoder layer 1 off";
    CHECK(mean_of_heads(other).edited == other.edited);
    CHECK(mean_of_layers(other).edited == other.edited);
    CHECK(difference(other, other).edited == other.edited);
    CHECK(difference(record, other).edited == "nothing; in what is subtracted: head 1 of encoder layer 1 off");
    other.source[0].text = "\u2581else";
    CHECK_THROWS_WITH(difference(record, other),
                      Catch::Matchers::Contains("token 1 of the source is \"\u2581w0\" in one and"));
    other = record;
    other.sites[0].heads = 1;
    CHECK_THROWS_WITH(difference(record, other), Catch::Matchers::Contains("2 heads, the other encoder layer 1: 1"));
    other = record;
    other.source.pop_back();
    CHECK_THROWS_WITH(difference(record, other), Catch::Matchers::Contains("in one and no token in the other"));
}

TEST_CASE("Heads are found by their rules", "[search]") {
    // 8 words and the end; every head attends to its own position unless set below.
    constexpr std::int64_t kLength = 9;
    AttentionRecord record = encoder_record(tokens(8), 3, std::vector<float>(3 * kLength * kLength, 0.0F));
    record.encoder_layers = 2;
    const auto look = [&](SiteWeights& weights, std::int64_t head, std::int64_t query, std::int64_t key) {
        for (std::int64_t k = 0; k < kLength; ++k) {
            weights.values[static_cast<std::size_t>(((head - 1) * kLength + query) * kLength + k)] = k == key ? 1 : 0;
        }
    };
    for (std::int64_t head = 1; head <= 3; ++head) {
        for (std::int64_t query = 0; query < kLength; ++query) {
            look(record.sites[0], head, query, query);
        }
    }
    record.sites.push_back(record.sites[0]);
    record.sites[1].site.layer = 1;
    look(record.sites[1], 2, 7, 3);
    look(record.sites[1], 3, 1, 7);
    const auto best = [&](const std::string& query) {
        const FoundHead found = find_heads(record, {}, parse_head_query(query)).front();
        return std::tuple(found.site.layer + 1, found.head, found.value, found.what);
    };
    // Of nine queries, w3 and w7 attend to w3.
    CHECK(best("anaphora=w7") ==
          std::tuple(2, 2, 1.0 - 2.0 / 9.0, std::string("w7 \u2192 w3 1.00, 0.78 beyond what all words do")));
    CHECK(best("link=w1,w7") == std::tuple(2, 3, 1.0, std::string("w1 \u2192 w7 1.00")));
    CHECK(std::get<1>(best("long-distance=w1")) == 3);
    CHECK(std::get<1>(best("long-distance")) == 3);
    // All heads follow the diagonal too closely.
    CHECK_THROWS_WITH(best("structure"), Catch::Matchers::Contains("no head of encoder attention"));
    for (std::int64_t query = 0; query < kLength; ++query) {
        look(record.sites[0], 2, query, query < 4 ? 7 : 1);
        look(record.sites[0], 1, query, 8);  // the end: not a structure
    }
    CHECK(std::get<0>(best("structure")) == 1);
    CHECK(std::get<1>(best("structure")) == 2);
    // The previous word and later ones are not antecedents.
    look(record.sites[0], 1, 7, 6);
    CHECK(std::get<1>(best("anaphora=w7")) == 2);
    CHECK(std::get<0>(best("anaphora=w7")) == 2);
    // Nor is a key that every word attends to.
    for (std::int64_t query = 0; query < kLength; ++query) {
        look(record.sites[0], 3, query, 2);
    }
    CHECK(std::get<0>(best("anaphora=w7")) == 2);
    CHECK(std::get<2>(best("link=w7,w2")) == 1.0);
    CHECK_THROWS_WITH(best("anaphora=its"), Catch::Matchers::Contains("'its' is not among"));
    for (const char* wrong : {"", "link=a", "link=,b", "link=a,", "anaphora", "anaphora=", "structure=x", "head"}) {
        CHECK_THROWS_WITH(parse_head_query(wrong), Catch::Matchers::Contains("link=WORD,WORD"));
    }
    CHECK_THROWS_WITH(parse_head_query("link=1,000,euros"), Catch::Matchers::Contains("link=1\\,000,euros"));
    CHECK(parse_head_query("link=1\\,000,euros").word == "1,000");
    CHECK(parse_head_query("link=\\,,1\\,000:2").to == "1,000:2");
    CHECK(parse_head_query("anaphora=1\\,000").word == "1,000");
    CHECK(parse_head_query("long-distance=1,000").word == "1,000");
}
