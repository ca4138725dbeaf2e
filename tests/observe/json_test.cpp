// Records and figures as JSON.
#include <catch2/catch.hpp>

#include <cmath>
#include <limits>

#include <nlohmann/json.hpp>

#include "observe/record_json.h"
#include "paper_record.h"
#include "support/check.h"

using namespace headscope;

namespace {

AttentionRecord hard_record() {
    AttentionRecord record;
    record.encoder_layers = 3;
    record.decoder_layers = 2;
    record.derived = "mean of \"heads\"";
    record.edited = "head 3 of encoder layer 5 \"off\",\nhead 1 of cross layer 2 uniform";
    record.source = {{"\u2581„a\\\"\n", TokenKind::Piece}, {"<unk>", TokenKind::Unknown}, {"<EOS>", TokenKind::End}};
    record.target_in = {{"<BOS>", TokenKind::Begin}};
    record.target_out = {{"🙂", TokenKind::Piece}};
    record.sites.push_back({{AttentionKind::Cross, 1},
                            2,
                            1,
                            3,
                            {0.1F, 1.0F / 3.0F, std::nextafter(0.5F, 1.0F), std::numeric_limits<float>::denorm_min(),
                             -0.0F, std::numeric_limits<float>::max()}});
    return record;
}

std::string changed(const std::string& from, const std::string& to) {
    std::string text = to_json(hard_record());
    const std::size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    return text.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("A record's JSON round trip is exact", "[json]") {
    for (const AttentionRecord& record : {hard_record(), test::paper_record()}) {
        const AttentionRecord back = record_from_json(to_json(record), "x.json");
        CHECK(back.source == record.source);
        CHECK(back.target_in == record.target_in);
        CHECK(back.target_out == record.target_out);
        CHECK(back.derived == record.derived);
        CHECK(back.edited == record.edited);
        CHECK(back.encoder_layers == record.encoder_layers);
        CHECK(back.decoder_layers == record.decoder_layers);
        REQUIRE(back.sites.size() == record.sites.size());
        for (std::size_t i = 0; i < back.sites.size(); ++i) {
            CHECK(back.sites[i].site == record.sites[i].site);
            CHECK(back.sites[i].heads == record.sites[i].heads);
            CHECK(back.sites[i].queries == record.sites[i].queries);
            CHECK(back.sites[i].keys == record.sites[i].keys);
            REQUIRE(back.sites[i].values.size() == record.sites[i].values.size());
            CHECK(std::equal(back.sites[i].values.begin(), back.sites[i].values.end(), record.sites[i].values.begin(),
                             [](float a, float b) { return a == b && std::signbit(a) == std::signbit(b); }));
        }
    }
}

TEST_CASE("Invalid records are rejected with the expected form", "[json]") {
    using Catch::Matchers::Contains;
    CHECK_THROWS_WITH(record_from_json("[1]", "x.json"), Contains("x.json") && Contains("an object with \"format\""));
    CHECK_THROWS_WITH(record_from_json(changed("\"edited\":\"", "\"edited\":1,\"x\":\""), "x.json"),
                      Contains("\"edited\" of the record") && Contains("a string, got 1"));
    CHECK(record_from_json(changed("\"edited\":", "\"x\":"), "x.json").edited.empty());
    CHECK_THROWS_WITH(record_from_json("{", "x.json"), Contains("x.json"));
    CHECK_THROWS_WITH(record_from_json(changed("headscope att", "another att"), "x.json"), Contains("\"format\""));
    CHECK_THROWS_WITH(record_from_json(changed("\"version\":1", "\"version\":2"), "x.json"), Contains("version"));
    CHECK_THROWS_WITH(record_from_json(changed("\"kind\":\"end\"", "\"kind\":\"stop\""), "x.json"),
                      Contains("token 3 of \"source\"") && Contains("\"stop\""));
    CHECK_THROWS_WITH(record_from_json(changed("\"kind\":\"cross\"", "\"kind\":\"self\""), "x.json"),
                      Contains("site 1") && Contains("encoder, decoder or cross"));
    CHECK_THROWS_WITH(record_from_json(changed("[0.1", "[1,0.1"), "x.json"), Contains("= 6 numbers, got 7"));
    CHECK_THROWS_WITH(record_from_json(changed("[0.100000001", "[null"), "x.json"), Contains("weight 1 of site 1"));
    CHECK_THROWS_WITH(record_from_json(changed("\"target_out\":[{", "\"target_out\":[],\"x\":[{"), "x.json"),
                      Contains("as long as \"target_in\", 1 tokens, got 0"));
    CHECK_THROWS_WITH(record_from_json(changed("[0.100000001", "[1e300"), "x.json"),
                      Contains("in the range of a float"));
    CHECK_THROWS_WITH(record_from_json(changed("\"heads\":2", "\"heads\":2.5"), "x.json"),
                      Contains("an integer of at least 1, got 2.5"));
    CHECK_THROWS_WITH(record_from_json(changed("\"layer\":2", "\"layer\":0"), "x.json"), Contains("\"layer\""));
    AttentionRecord broken = hard_record();
    broken.sites[0].values[0] = std::nanf("");
    CHECK_THROWS_WITH(to_json(broken), Contains("damaged"));
}

TEST_CASE("A figure's JSON has its rows and the weights of its heads, ordered by query", "[json]") {
    AttentionSelection options;
    options.layer = 5;
    options.heads = {3, 6};
    options.words = {"making"};
    AttentionRecord record = test::paper_record();
    record.edited = "head 3 of encoder layer 5 off";
    const SelectedAttention content = select_attention(record, options);
    const auto json = nlohmann::json::parse(to_json(content));
    CHECK(json["title"] == "Input-Input Layer5");
    CHECK(json["edited"] == record.edited);
    CHECK(json["note"] == "Edited: head 3 of encoder layer 5 off.");
    CHECK(json["queries"].size() == 27);
    CHECK(json["keys"][26] == "<EOS>");
    CHECK(json["chosen_queries"] == nlohmann::json({17}));
    REQUIRE(json["heads"].size() == 2);
    CHECK(json["heads"][1]["head"] == 6);
    CHECK(json["heads"][1]["weights"][4][20].get<float>() == content.weight(6, 4, 20));
    CHECK(json["heads"][1]["weights"].size() == 27);
}
