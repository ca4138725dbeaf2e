// The page of all heads: what it holds, says and escapes. tests/figures/page_test.py looks at it in a browser.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "figure_samples.h"
#include "figures/heads_page.h"
#include "figures/page_weights.h"
#include "observe/derived_records.h"
#include "samples.h"
#include "support/check.h"

using namespace headscope;
using Catch::Matchers::Contains;
using nlohmann::json;

namespace {

// What the page's script reads.
std::string data_text(const std::string& page) {
    const std::string opening = "id=\"data\">";
    const std::size_t from = page.find(opening) + opening.size();
    return page.substr(from, page.find("</script>", from) - from);
}

json data_of(const AttentionRecord& record, const HeadsPageOptions& options = {},
             const std::vector<NeuronView>& neurons = {}) {
    return json::parse(data_text(heads_page(record, neurons, options)));
}

std::vector<std::uint8_t> bytes_of(const std::string& base64) {
    const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::vector<std::uint8_t> bytes;
    std::uint32_t bits = 0;
    int count = 0;
    for (const char c : base64.substr(0, base64.find('='))) {
        bits = bits << 6U | static_cast<std::uint32_t>(digits.find(c));
        count += 6;
        if (count >= 8) {
            count -= 8;
            bytes.push_back(static_cast<std::uint8_t>(bits >> static_cast<unsigned>(count)));
        }
    }
    return bytes;
}

template <class Number>
std::vector<Number> numbers_of(const std::string& base64) {
    const std::vector<std::uint8_t> bytes = bytes_of(base64);
    std::vector<Number> numbers(bytes.size() / sizeof(Number));
    std::memcpy(numbers.data(), bytes.data(), bytes.size());
    return numbers;
}

// The page's weights of a head [queries, keys], as its script decodes them.
std::vector<double> decoded(const json& data, const json& layer, std::size_t head) {
    const std::size_t queries = layer["queries"], keys = layer["keys"];
    const std::string text = layer["heads"][head];
    std::vector<double> weights(queries * keys, 0.0);
    if (data["form"] == "strong") {
        const auto numbers = numbers_of<std::uint16_t>(text);
        for (std::size_t query = 0, at = 0; query < queries; ++query) {
            const std::size_t count = numbers.at(at++);
            for (std::size_t i = 0; i < count; ++i) {
                weights.at(query * keys + numbers.at(at + i)) = numbers.at(at + count + i) / 65535.0;
            }
            at += 2 * count;
        }
        return weights;
    }
    const bool fine = data["form"] == "fine";
    std::vector<double> numbers;
    for (const std::uint16_t number : fine ? numbers_of<std::uint16_t>(text) : std::vector<std::uint16_t>{}) {
        numbers.push_back(number / 65535.0);
    }
    for (const std::uint8_t number : fine ? std::vector<std::uint8_t>{} : bytes_of(text)) {
        numbers.push_back(std::pow(number / 255.0, 2.0));
    }
    std::size_t at = 0;
    for (std::size_t query = 0; query < queries; ++query) {
        for (std::size_t key = 0; key < (layer["triangle"] ? query + 1 : keys); ++key) {
            weights[query * keys + key] = numbers.at(at++);
        }
    }
    CHECK(at == numbers.size());
    return weights;
}

// A causal model's text of random weights.
AttentionRecord causal_record(std::int64_t tokens, int layers, int heads) {
    AttentionRecord record;
    record.family = Architecture::CausalLm;
    record.decoder_layers = layers;
    for (std::int64_t i = 0; i < tokens; ++i) {
        record.target_in.push_back({"\u2581token" + std::to_string(i), TokenKind::Piece});
    }
    std::mt19937 random(1);
    for (int layer = 0; layer < layers; ++layer) {
        SiteWeights site{{AttentionKind::DecoderSelf, layer}, heads, tokens, tokens, {}};
        for (std::int64_t row = 0; row < heads * tokens; ++row) {
            std::vector<float> weights(static_cast<std::size_t>(tokens), 0.0F);
            float sum = 0.0F;
            for (std::int64_t key = 0; key <= row % tokens; ++key) {
                weights[static_cast<std::size_t>(key)] = std::exp(6.0F * static_cast<float>(random()) / 4294967296.0F);
                sum += weights[static_cast<std::size_t>(key)];
            }
            for (const float weight : weights) {
                site.values.push_back(weight / sum);
            }
        }
        record.sites.push_back(std::move(site));
    }
    return record;
}

std::string notes_of(const json& data) {
    std::string all;
    for (const json& note : data["notes"]) {
        all += note.get<std::string>() + "\n";
    }
    return all;
}

}  // namespace

TEST_CASE("A page of heads refers to nothing outside, and forbids all requests", "[page]") {
    const std::string page = heads_page(test::cross_record(), {}, {});
    CHECK_THAT(page, Contains("content=\"default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
                              "base-uri 'none'; form-action 'none'\""));
    CHECK_THAT(page, !Contains("http:") && !Contains("https:") && !Contains(" src=") && !Contains("href=") &&
                         !Contains("url(") && !Contains("@import") && !Contains("import(") && !Contains("fetch("));
    CHECK_THAT(page, !Contains("<!--title-->") && !Contains("<!--style-->") && !Contains("<!--data-->") &&
                         !Contains("<!--script-->"));
}

TEST_CASE("A page of heads has the kinds, layers and tokens of the record", "[page]") {
    const json data = data_of(test::cross_record());
    REQUIRE(data["kinds"].size() == 2);
    const json& cross = data["kinds"][1];
    CHECK(cross["kind"] == "cross");
    CHECK(cross["name"] == "Cross");
    CHECK(cross["query_name"] == "translation");
    CHECK(cross["key_name"] == "source");
    CHECK(cross["queries"]["pieces"][1] == json::array({"\u2581Gesetz", 1, 1}));
    CHECK(cross["keys"]["words"][0] == json::array({"The", 0, 1}));
    REQUIRE(cross["layers"].size() == 2);
    CHECK(cross["layers"][1]["layer"] == 2);
    CHECK(cross["layers"][1]["heads"].size() == 3);
    CHECK(data["colours"]["dark"]["heads"].size() == 3);
    AttentionRecord causal = causal_record(3, 1, 1);
    causal.target_in[2] = {"er", TokenKind::Piece};
    const json only = data_of(causal, {.join_words = false});
    CHECK(only["kinds"][0]["query_name"] == "");
    CHECK(only["kinds"][0]["keys"]["words"] == json::array({{"token0", 0, 1}, {"token1er", 1, 2}}));
    CHECK(only["join_words"] == false);
}

TEST_CASE("Text is escaped in a page of heads", "[page]") {
    const std::string bad = "</script><script>alert(1)</script><!--\u2028&\"'";
    AttentionRecord record = test::small_record({0.5F, 0.25F, 0.25F, 1, 0, 0, 0, 0, 1, 0, 1, 0});
    record.source[1] = {bad, TokenKind::Piece};
    record.target_out[0] = {"\xFF", TokenKind::Piece};
    const std::string page = heads_page(record, {}, {.title = "<i>&", .caption = "</style>", .notes = {"<b>"}});
    CHECK_THAT(page, Contains("<title>&lt;i&gt;&amp;</title>") && Contains("<h1>&lt;i&gt;&amp;</h1>"));
    const std::string text = data_text(page);
    CHECK_THAT(text, !Contains("<"));
    const json data = json::parse(text);
    CHECK(data["caption"] == "</style>");
    CHECK(data["kinds"][0]["keys"]["pieces"][1][0] == bad);
    CHECK(data["kinds"][0]["queries"]["pieces"][0][0] == "\uFFFD");
    // The frame's own scripts, and no others.
    std::size_t scripts = 0;
    for (std::size_t at = page.find("<script"); at != std::string::npos; at = page.find("<script", at + 1)) {
        ++scripts;
    }
    CHECK(scripts == 2);
}

TEST_CASE("Weights of a page are as near as it says", "[page]") {
    const AttentionRecord record = GENERATE(test::cross_record(), causal_record(40, 2, 3));
    const auto form = GENERATE(WeightForm::Fine, WeightForm::Coarse, WeightForm::Strong);
    const std::size_t fine = weights_within(record, std::numeric_limits<std::size_t>::max()).bytes;
    const std::size_t most = form == WeightForm::Fine ? 2 * fine : form == WeightForm::Coarse ? 2 * fine - 1 : fine / 3;
    CHECK(weights_within(record, most).form == form);
    const json data = data_of(record, {.weight_bytes = most});
    const double within = data["within"];
    double farthest = 0.0;
    std::size_t bytes = 0;
    for (const json& kind : data["kinds"]) {
        for (const json& layer : kind["layers"]) {
            const SiteWeights& site =
                find_site(record, parse_attention_kind(kind["kind"].get<std::string>()), layer["layer"]);
            for (std::size_t head = 0; head < layer["heads"].size(); ++head) {
                bytes += layer["heads"][head].get<std::string>().size();
                const std::vector<double> weights = decoded(data, layer, head);
                for (std::size_t i = 0; i < weights.size(); ++i) {
                    const auto original = static_cast<double>(site.values[head * weights.size() + i]);
                    farthest = std::max(farthest, std::abs(weights[i] - original));
                }
            }
        }
    }
    CHECK(farthest <= within);
    CHECK(farthest > 0.1 * within);  // it does not say far too much
    CHECK(bytes <= most);
}

TEST_CASE("A page says what it rounds and leaves out", "[page]") {
    const AttentionRecord record = causal_record(40, 1, 2);
    const std::size_t fine = weights_within(record, std::numeric_limits<std::size_t>::max()).bytes;
    CHECK_THAT(notes_of(data_of(record)), Contains("rounded by at most 0.00001.") && !Contains("left out"));
    CHECK_THAT(notes_of(data_of(record, {.weight_bytes = fine})), Contains("rounded: by at most 0.004"));
    const PageWeights strong = weights_within(record, fine / 4);
    REQUIRE(strong.form == WeightForm::Strong);
    double left_out = 0.0;
    for (const float weight : record.sites[0].values) {
        left_out += static_cast<double>(weight) < strong.least ? static_cast<double>(weight) : 0.0;
    }
    CHECK(strong.left_out == Approx(left_out / 80.0));
    CHECK(strong.left_out > 0.0);
    CHECK_THAT(
        notes_of(data_of(record, {.weight_bytes = fine / 4})),
        Contains(fmt::format("weights below {} are left out: {:.1f} % of all", strong.least, 100.0 * strong.left_out)));
    AttentionRecord edited = record;
    edited.edited = "Layer 1, head 2: off";
    CHECK_THAT(notes_of(data_of(edited, {.notes = {"From a test."}})),
               Contains("Edited: Layer 1, head 2: off.\nFrom a test.\n"));
}

TEST_CASE("A text of 500 tokens and 48 heads makes a page of less than 16 MB", "[page]") {
    const std::string page = heads_page(causal_record(500, 6, 8), {}, {});
    CHECK(page.size() < 16'000'000);
    CHECK_THAT(page, Contains("\"form\":\"coarse\""));
}

TEST_CASE("Queries and keys of a page are rounded to 16 bits", "[page]") {
    AttentionRecord record = test::cross_record();
    NeuronView view = test::neuron_sample(4, 7, 8);
    view.by_distance = {0.5F, 0.0F, -0.5F};
    const json data = data_of(record, {}, {view});
    REQUIRE(data["neurons"].size() == 1);
    const json& neuron = data["neurons"][0];
    CHECK(neuron["kind"] == "cross");
    CHECK(neuron["layer"] == 2);
    CHECK(neuron["head"] == 2);
    CHECK(neuron["pads"] == 2);
    CHECK(neuron["by_distance"] == json::array({0.5, 0.0, -0.5}));
    const double unit = neuron["q"]["unit"];
    const auto numbers = numbers_of<std::int16_t>(neuron["q"]["values"]);
    REQUIRE(numbers.size() == view.q.size());
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        CHECK(numbers[i] * unit == Approx(static_cast<double>(view.q[i])).margin(0.5 * unit + 1e-9));
    }
    CHECK(*std::max_element(numbers.begin(), numbers.end()) == 32767);
}

TEST_CASE("A page has the queries and keys that fit", "[page]") {
    std::vector<NeuronView> views(3, test::neuron_sample(4, 7, 8));
    views[0].head = 1;
    views[2].head = 3;
    const json data = data_of(test::cross_record(), {.neuron_bytes = 2 * neuron_bytes(views[0])}, views);
    CHECK(data["neurons"].size() == 2);
    CHECK_THAT(notes_of(data), Contains("queries and keys of 2 of 12 heads"));
    const json none = data_of(test::cross_record(), {.neuron_bytes = 0}, views);
    CHECK(none["neurons"].empty());
    CHECK_THAT(notes_of(none), Contains("queries and keys of 0 of 12 heads") && !Contains("16 bits"));
    CHECK_THAT(notes_of(data_of(test::cross_record())), !Contains("queries and keys"));
    const auto text = numbers_of<std::int16_t>(data["neurons"][0]["k"]["values"]);
    CHECK(text.size() == views[0].k.size());
}

TEST_CASE("A page of heads shows no negative and no broken weights", "[page]") {
    const AttentionRecord record = test::small_record({0.5F, 0.25F, 0.25F, 1, 0, 0, 0, 0, 1, 0, 1, 0});
    AttentionRecord other = record;
    std::swap(other.sites[0].values[0], other.sites[0].values[1]);
    CHECK_THROWS_WITH(heads_page(difference(record, other), {}, {}),
                      Contains("weights from 0 to 1") && Contains("-0.25"));
    other.sites[0].values[0] = std::numeric_limits<float>::quiet_NaN();
    CHECK_THROWS_WITH(heads_page(other, {}, {}), Contains("nan"));
}
