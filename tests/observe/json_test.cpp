// Records and figures as JSON.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include <nlohmann/json.hpp>

#include "observe/record_json.h"
#include "paper_record.h"

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

// "piece _the, end <EOS>"
std::string tokens_in(const nlohmann::json& json) {
    std::string all;
    for (const nlohmann::json& token : json) {
        all +=
            (all.empty() ? "" : ", ") + token.at("kind").get<std::string>() + " " + token.at("text").get<std::string>();
    }
    return all;
}

}  // namespace

TEST_CASE("A record's JSON has its tokens, and its weights exactly", "[json]") {
    const AttentionRecord record = hard_record();
    const auto json = nlohmann::json::parse(to_json(record));
    CHECK(json.at("format") == "headscope attention record");
    CHECK(json.at("version") == 1);
    CHECK(json.at("derived") == record.derived);
    CHECK(json.at("edited") == record.edited);
    CHECK(json.at("encoder_layers") == 3);
    CHECK(json.at("decoder_layers") == 2);
    CHECK(tokens_in(json.at("source")) == "piece \u2581„a\\\"\n, unknown <unk>, end <EOS>");
    CHECK(tokens_in(json.at("target_in")) == "begin <BOS>");
    CHECK(tokens_in(json.at("target_out")) == "piece 🙂");
    REQUIRE(json.at("sites").size() == 1);
    const nlohmann::json& site = json.at("sites")[0];
    CHECK(site.at("kind") == "cross");
    CHECK(site.at("layer") == 2);
    CHECK(site.at("heads") == 2);
    const auto weights = site.at("weights").get<std::vector<float>>();
    CHECK(std::ranges::equal(weights, record.sites[0].values,
                             [](float a, float b) { return a == b && std::signbit(a) == std::signbit(b); }));
    AttentionRecord broken = record;
    broken.sites[0].values[0] = std::nanf("");
    CHECK_THROWS_WITH(to_json(broken), Catch::Matchers::Contains("damaged"));
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
