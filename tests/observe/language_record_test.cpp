// Recording language models: one text, one stack.
#include <catch2/catch.hpp>

#include <algorithm>
#include <memory>
#include <set>
#include <tuple>

#include <nlohmann/json.hpp>

#include "import/open_model.h"
#include "observe/derived_records.h"
#include "observe/family_labels.h"
#include "observe/head_statistics.h"
#include "observe/record_attention.h"
#include "observe/record_json.h"
#include "observe/repeated_text.h"
#include "observe/selection.h"
#include "registry/registry.h"
#include "tests/house/open_options.h"
#include "tests/infer/tiny_model.h"
#include "tests/ops/devices.h"

using namespace headscope;
using Catch::Matchers::Contains;

namespace {

struct Language {
    std::unique_ptr<Backend> backend;
    LoadedModel translator;

    explicit Language(Architecture family, const std::string& device = "cpu")
        : backend(open_device(device, environment_options())),
          translator(tiny_translator(*backend, tiny_language_config(family))) {}

    AttentionRecord record(const std::string& text, const RecordOptions& options = {}) const {
        return record_attention(*backend, translator.network(), {}, encode_language_text(translator.model(), text),
                                options);
    }
};

double worst_difference(const AttentionRecord& a, const AttentionRecord& b) {
    REQUIRE(a.sites.size() == b.sites.size());
    double worst = 0.0;
    for (std::size_t site = 0; site < a.sites.size(); ++site) {
        REQUIRE(a.sites[site].values.size() == b.sites[site].values.size());
        for (std::size_t i = 0; i < a.sites[site].values.size(); ++i) {
            worst = std::max(worst, std::abs(static_cast<double>(a.sites[site].values[i]) -
                                             static_cast<double>(b.sites[site].values[i])));
        }
    }
    return worst;
}

double row_sum(const SiteWeights& weights, std::int64_t head, std::int64_t query) {
    double sum = 0.0;
    for (std::int64_t key = 0; key < weights.keys; ++key) {
        sum += static_cast<double>(weights.at(head, query, key));
    }
    return sum;
}

}  // namespace

TEST_CASE("a causal language model's record is its text, whose tokens see those before them", "[language]") {
    const AttentionRecord expected = Language(Architecture::CausalLm).record("the small dog");
    for (const std::string& device : conformance::devices_under_test()) {
        CAPTURE(device);
        const Language language(Architecture::CausalLm, device);
        const AttentionRecord record = language.record("the small dog");
        CHECK(record.family == Architecture::CausalLm);
        CHECK(record.source.empty());
        CHECK(record.target_in.front() == RecordedToken{"<BOS>", TokenKind::Begin});
        // What follows the last token is unknown.
        CHECK(record.target_out == std::vector<RecordedToken>(record.target_in.begin() + 1, record.target_in.end()));
        REQUIRE(record.sites.size() == 2);
        for (const SiteWeights& weights : record.sites) {
            CHECK(weights.queries == std::ssize(record.target_in));
            for (std::int64_t head = 0; head < weights.heads; ++head) {
                for (std::int64_t query = 0; query < weights.queries; ++query) {
                    CHECK(row_sum(weights, head, query) == Approx(1.0).margin(1e-5));
                    for (std::int64_t key = query + 1; key < weights.keys; ++key) {
                        CHECK(weights.at(head, query, key) == 0.0F);
                    }
                }
            }
        }
        CHECK(worst_difference(record, expected) < 1e-5);
    }
}

TEST_CASE("a text of random words reads as the same pieces twice", "[language]") {
    const ModelDirectory model = open_model(HEADSCOPE_SOURCE_DIR "/assets/models/en-causal");
    const std::string text = repeated_text(model);
    const std::vector<std::int32_t> ids = model.target_tokenizer->encode(text);
    REQUIRE(ids.size() == 2 * kRepeatedPieces);
    CHECK(std::set<std::int32_t>(ids.begin(), ids.end()).size() == kRepeatedPieces);
    CHECK(std::equal(ids.begin(), ids.begin() + kRepeatedPieces, ids.begin() + kRepeatedPieces));
    CHECK(repeated_text(model) == text);
    CHECK(repeated_text(model, 2) != text);
    ModelDirectory changed = model;
    changed.config.max_length = 22;
    CHECK(changed.target_tokenizer->encode(repeated_text(changed)).size() == 20);
    changed.config.max_length = 9;
    CHECK_THROWS_WITH(repeated_text(changed), Contains("give a text that repeats itself"));
    const LoadedModel& masked = Language(Architecture::MaskedLm).translator;
    CHECK_FALSE(find_repeated_text(masked.model()).has_value());
}

TEST_CASE("a text whose weights would not fit into memory is refused before the model reads it", "[language]") {
    for (const auto& [family, kind] : {std::pair(Architecture::CausalLm, AttentionKind::DecoderSelf),
                                       std::pair(Architecture::MaskedLm, AttentionKind::EncoderSelf)}) {
        ModelConfig config = tiny_language_config(family);
        config.max_length = 30'000;
        const std::unique_ptr<Backend> backend = open_device("cpu", environment_options());
        const LoadedModel translator = tiny_translator(*backend, config);
        RecordedText text;
        text.ids.assign(25'000, 5);
        text.pieces.assign(text.ids.size(), "a");
        CHECK_THROWS_WITH(record_attention(*backend, translator.network(), {}, text, {}),
                          Contains("GB, but at most 2.1 GB are kept: give a shorter text, or choose one layer"));
        CHECK_THROWS_WITH(record_attention(*backend, translator.network(), {}, text, {.sites = {{kind, 0}}}),
                          Contains("give a shorter text") && !Contains("choose one layer"));
    }
}

TEST_CASE("a causal record shows unknown text as it was written", "[language]") {
    const std::vector<RecordedToken> tokens = Language(Architecture::CausalLm).record("the \u732b dog").target_in;
    const auto unknown = std::find_if(tokens.begin(), tokens.end(),
                                      [](const RecordedToken& token) { return token.kind == TokenKind::Unknown; });
    REQUIRE(unknown != tokens.end());
    CHECK(unknown->text == "\u732b");
}

TEST_CASE("a causal record equals the weights of decoding step by step", "[language]") {
    const Language language(Architecture::CausalLm);
    const RecordedText text = encode_language_text(language.translator.model(), "a cat sleeps");
    const AttentionRecord record = language.record("a cat sleeps");
    WeightCollector collector;
    Context ctx{.backend = *language.backend, .observer = &collector};
    const Generator& generator = as_generator(language.translator.network());
    Cache cache = generator.start(ctx, {.sentences = 1});
    const std::vector<std::int32_t> ids = target_in_ids(language.translator.model().config, text);
    REQUIRE(std::ssize(ids) == record.sites.front().queries);
    for (std::int64_t query = 0; query < std::ssize(ids); ++query) {
        generator.step(ctx, cache,
                       make_from_host<std::int32_t>(*language.backend, {1, 1}, DType::I32,
                                                    {ids[static_cast<std::size_t>(query)]}));
        const auto seen = collector.fetch(*language.backend);
        REQUIRE(seen.size() == record.sites.size());
        for (std::size_t site = 0; site < seen.size(); ++site) {
            const SiteWeights& weights = record.sites[site];
            for (std::int64_t head = 0; head < weights.heads; ++head) {
                for (std::int64_t key = 0; key <= query; ++key) {
                    CHECK(weights.at(head, query, key) ==
                          Approx(seen[site].values[static_cast<std::size_t>(head * (query + 1) + key)]).margin(1e-6));
                }
            }
        }
    }
}

TEST_CASE("a masked language model's record is its text with masks and ends", "[language]") {
    const std::string text = "the [MASK] dog sees a [MASK]";
    const AttentionRecord expected = Language(Architecture::MaskedLm).record(text);
    for (const std::string& device : conformance::devices_under_test()) {
        CAPTURE(device);
        const AttentionRecord record = Language(Architecture::MaskedLm, device).record(text);
        CHECK(record.family == Architecture::MaskedLm);
        CHECK(record.target_in.empty());
        CHECK(record.source.front().kind == TokenKind::Begin);
        CHECK(record.source.back().kind == TokenKind::End);
        CHECK(std::count(record.source.begin(), record.source.end(), RecordedToken{"[MASK]", TokenKind::Mask}) == 2);
        REQUIRE(record.sites.size() == 2);
        for (const SiteWeights& weights : record.sites) {
            REQUIRE(weights.keys == std::ssize(record.source));
            for (std::int64_t head = 0; head < weights.heads; ++head) {
                CHECK(row_sum(weights, head, 0) == Approx(1.0).margin(1e-5));  // none is on the batch's pads
                CHECK(weights.at(head, 0, weights.keys - 1) > 0.0F);
            }
        }
        CHECK(worst_difference(record, expected) < 1e-5);
    }
    CHECK(Language(Architecture::MaskedLm).record("the dog").source.size() > 3);  // a text needs no mask
}

TEST_CASE("a mask is a word of its own", "[language]") {
    const AttentionRecord record = Language(Architecture::MaskedLm).record("the [MASK] sleeps");
    std::vector<std::string> words;
    for (const RowItem& item : make_row(record.source, {})) {
        words.push_back(item.label);
    }
    CHECK(words == std::vector<std::string>{"<BOS>", "the", "[MASK]", "sleeps", "<EOS>"});
}

TEST_CASE("a text that does not fit into the model is an error", "[language]") {
    std::string text;
    for (int word = 0; word < 30; ++word) {
        text += "cat ";
    }
    CHECK_THROWS_WITH(Language(Architecture::CausalLm).record(text),
                      Contains("the model takes at most 24: shorten it"));
    CHECK_THROWS_WITH(Language(Architecture::MaskedLm).record(text),
                      Contains("the model takes at most 24: shorten it"));
}

TEST_CASE("the JSON of a language model's record has its own streams", "[language][json]") {
    for (const auto& [family, text, follows] : {std::tuple(Architecture::CausalLm, "the small dog", "next"),
                                                std::tuple(Architecture::MaskedLm, "the [MASK] dog", "fills")}) {
        const AttentionRecord record = Language(family).record(text);
        const std::string written = to_json(record);
        CHECK_THAT(written, !Contains("source") && !Contains("target"));
        const auto json = nlohmann::json::parse(written);
        CHECK(json.at("architecture") == traits(family).key);
        CHECK(json.at("layers") == 2);
        CHECK(json.at("text").size() == (record.source.empty() ? record.target_in : record.source).size());
        CHECK(json.at(follows).size() == record.target_out.size());
    }
}

TEST_CASE("labels follow the family", "[language]") {
    const AttentionRecord causal = Language(Architecture::CausalLm).record("the dog");
    CHECK(select_attention(causal, {.kind = AttentionKind::DecoderSelf, .layer = 2}).title == "Self-Attention Layer2");
    CHECK_THROWS_WITH(select_attention(causal, {.kind = AttentionKind::Cross}), Contains("no cross attention"));
    CHECK_THROWS_WITH(select_attention(causal, {.kind = AttentionKind::EncoderSelf}), Contains("no encoder attention"));
    CHECK(layer_label(Architecture::EncoderDecoder, {AttentionKind::Cross, 1}) == "cross layer 2");
    for (const Architecture family : {Architecture::CausalLm, Architecture::MaskedLm}) {
        const FamilyTraits& labels = traits(family);
        REQUIRE(labels.kinds.size() == 1);
        CHECK(layer_label(family, {labels.kinds.front().kind, 4}) == "layer 5");
        for (const std::string label : {labels.given, labels.predicted, labels.kinds.front().name}) {
            CHECK_THAT(label, !Contains("Source") && !Contains("Target") && !Contains("coder"));
        }
    }
}

TEST_CASE("rollout of a language model multiplies the layers of its stack", "[language]") {
    for (const auto& [family, kind, text] :
         {std::tuple(Architecture::CausalLm, AttentionKind::DecoderSelf, "the small dog"),
          std::tuple(Architecture::MaskedLm, AttentionKind::EncoderSelf, "the [MASK] dog")}) {
        const AttentionRecord record = Language(family).record(text);
        const AttentionRecord mean = mean_of_heads(record);
        const AttentionRecord rolled = rollout(record);
        REQUIRE(rolled.sites.size() == 2);
        const SiteWeights& first = find_site(mean, kind, 1);
        const SiteWeights& second = find_site(mean, kind, 2);
        const auto layer = [](const SiteWeights& weights, std::int64_t query, std::int64_t key) {
            return 0.5 * static_cast<double>(weights.at(0, query, key)) + (query == key ? 0.5 : 0.0);
        };
        for (std::int64_t query = 0; query < first.queries; ++query) {
            for (std::int64_t key = 0; key < first.keys; ++key) {
                double sum = 0.0;
                for (std::int64_t through = 0; through < first.keys; ++through) {
                    sum += layer(second, query, through) * layer(first, through, key);
                }
                CHECK(find_site(rolled, kind, 2).at(0, query, key) == Approx(sum).margin(1e-6));
            }
        }
    }
}

TEST_CASE("a language model's head rests on its beginning", "[language]") {
    AttentionRecord record = Language(Architecture::CausalLm).record("the dog");
    SiteWeights& weights = record.sites.front();
    std::fill(weights.values.begin(), weights.values.end(), 0.0F);
    for (std::int64_t query = 0; query < weights.queries; ++query) {
        weights.values[static_cast<std::size_t>(query * weights.keys)] = 1.0F;  // head 1 looks at <BOS>
    }
    CHECK(statistics_of(record, weights, 1).on_end == Approx(1.0));
    CHECK(statistics_of(record, weights, 2).on_end == 0.0);
}
