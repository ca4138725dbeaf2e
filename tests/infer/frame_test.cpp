// Models whose texts have other tokens around them, compared with the same models in other terms.
#include "model/frame_of_config.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>

#include "infer/forced_scores.h"
#include "infer/forced_text.h"
#include "infer/framed_line.h"
#include "infer/model_scorer.h"
#include "model/sinusoids.h"
#include "registry/registry.h"
#include "support/check.h"
#include "tests/house/open_options.h"
#include "tests/infer/score_pairs.h"
#include "tests/ops/devices.h"
#include "tiny_model.h"

using namespace headscope;
using Catch::Matchers::Contains;

namespace {

using Ids = std::vector<std::int32_t>;

std::vector<double> forced(Backend& backend, const ModelConfig& config, const Example& pair, const Frame& frame) {
    const TinyModel model(backend, config);
    Context ctx{.backend = backend};
    std::vector<double> found;
    const auto tokens = force_targets(ctx, {&model.transformer}, std::vector{pair}, {}, frame);
    for (const ForcedToken& token : tokens.front()) {
        found.push_back(token.log_probability);
    }
    return found;
}

void check_near(const std::vector<double>& found, const std::vector<double>& expected) {
    REQUIRE(found.size() == expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
        CHECK(found[i] == Approx(expected[i]).margin(1e-5));
    }
}

// A model of two target languages, whose tokens are the pieces >>deu<< and >>fra<<.
LoadedModel multilingual(Backend& backend) {
    ModelConfig config = tiny_config();
    const auto tokenizer = std::make_shared<const Tokenizer>(Tokenizer::from_bytes(
        "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n>>deu<<\n>>fra<<\nthe\nsmall\ndog\nhund\n", "my.txt"));
    config.frame.unk_id = 1;
    config.frame.bos_id = 2;
    config.frame.eos_id = 3;
    config.frame.source_end = {3};
    config.source_vocabulary = config.target_vocabulary = tokenizer->size();
    config.frame.source_begin = {kTargetLanguage};
    config.frame.languages = {{"deu", 5}, {"fra", 6}};
    const auto parameters = std::make_shared<Parameters>(backend, config, false);
    parameters->initialise(3);
    return {backend, ModelDirectory{"memory", config, tokenizer, tokenizer}, parameters};
}

}  // namespace

TEST_CASE("tokens around a source and before a target are read, and only the target's pieces are scored") {
    const std::string device = GENERATE(from_range(conformance::devices_under_test()));
    INFO(device);
    const auto backend = open_device(device, environment_options());
    ModelConfig config = tiny_config();
    const Ids target{11, 12, 13};
    // In today's terms: all tokens but the end are pieces.
    const std::vector<double> plain = forced(*backend, config, {{9, 10, 4, 5, 2, 8}, {20, 11, 12, 13}}, {});
    config.frame.source_begin = {9, 10};
    config.frame.source_end = {2, 8, 2};
    config.frame.target_begin = {20};
    const Frame frame = frame_of(config);
    check_near(forced(*backend, config, {{4, 5}, target}, frame), {plain.begin() + 1, plain.end()});
    config.frame.source_end = {};
    config.frame.source_begin = {9, 10, 4};
    check_near(forced(*backend, config, {{5, 2, 8, 2}, target}, frame_of(config)), {plain.begin() + 1, plain.end()});
    // A source with a beginning of its own.
    config.frame.source_begin = {30, 31, 4};
    Example own{{5, 2, 8, 2}, target};
    own.source_begin = {9, 10, 4};
    check_near(forced(*backend, config, own, frame_of(config)), {plain.begin() + 1, plain.end()});
}

TEST_CASE("a decoder may start from the end of sentence") {
    const std::string device = GENERATE(from_range(conformance::devices_under_test()));
    INFO(device);
    const auto backend = open_device(device, environment_options());
    ModelConfig config = tiny_config();
    // In today's terms: another id has the same embedding.
    const TinyModel plain(*backend, config);
    const Tensor table = plain.parameters->at("target_embedding.weight").value();
    auto rows = to_host<float>(*backend, table);
    std::copy_n(rows.begin() + 2 * config.d_model, config.d_model, rows.begin() + config.d_model);
    from_host(*backend, table, rows);
    Context ctx{.backend = *backend};
    const auto expected = next_log_probabilities(ctx, plain.transformer, {4, 5, 2}, {11});
    config.frame.bos_id = config.frame.eos_id;
    const std::vector<double> found = forced(*backend, config, {{4, 5}, {11}}, frame_of(config));
    CHECK(found.at(1) == Approx(expected.at(2)).margin(1e-5));
    CHECK(token_rules(config, {}).forbidden == Ids{0, 3});
}

TEST_CASE("a decoder may start from no token") {
    const std::string device = GENERATE(from_range(conformance::devices_under_test()));
    INFO(device);
    const auto backend = open_device(device, environment_options());
    ModelConfig config = tiny_config();
    // In today's terms: a start whose embedding is 0.
    const TinyModel plain(*backend, config);
    const Tensor table = plain.parameters->at("target_embedding.weight").value();
    auto rows = to_host<float>(*backend, table);
    std::fill_n(rows.begin() + config.d_model, config.d_model, 0.0F);
    from_host(*backend, table, rows);
    Context ctx{.backend = *backend};
    const auto expected = next_log_probabilities(ctx, plain.transformer, {4, 5, 2}, {11});
    config.frame.bos_id = -1;
    const std::vector<double> found = forced(*backend, config, {{4, 5}, {11}}, frame_of(config));
    CHECK(found.at(1) == Approx(expected.at(2)).margin(1e-5));
    const TinyModel model(*backend, config);
    ModelScorer scorer(ctx, model.transformer, {{4, 5, 2}});
    scorer.step({-1}, {0}, 1);
    const NextTokens& next = scorer.step({11}, {0}, 40);
    for (std::size_t rank = 0; rank < next.tokens.size(); ++rank) {
        CHECK(next.log_probabilities[rank] ==
              Approx(expected.at(static_cast<std::size_t>(next.tokens[rank]))).margin(1e-4));
    }
}

TEST_CASE("suppressed tokens have probability 0 in scores, searches and predictions") {
    const std::string device = GENERATE(from_range(conformance::devices_under_test()));
    const bool bias = GENERATE(false, true);
    INFO(device << ", output bias " << bias);
    const auto backend = open_device(device, environment_options());
    ModelConfig config = tiny_config();
    config.output.bias = bias;
    Context ctx{.backend = *backend};
    const TinyModel plain(*backend, config);
    config.frame.suppressed_ids = {0, 17};
    const TinyModel suppressing(*backend, config);
    if (bias) {
        std::vector<float> values(40);
        std::iota(values.begin(), values.end(), -20.0F);
        for (const TinyModel* model : {&plain, &suppressing}) {
            from_host(*backend, model->parameters->at("output.bias").value(), values);
        }
    }
    const auto before = next_log_probabilities(ctx, plain.transformer, {4, 5, 2}, {7});
    const auto after = next_log_probabilities(ctx, suppressing.transformer, {4, 5, 2}, {7});
    const double left = std::log(1.0 - std::exp(before[0]) - std::exp(before[17]));
    for (std::size_t id = 0; id < after.size(); ++id) {
        INFO(id);
        const bool suppressed = id == 0 || id == 17;
        CHECK((suppressed ? after[id] < -10000.0 : after[id] == Approx(before[id] - left).margin(1e-5)));
    }
    // Several steps, which a device may record and replay.
    ModelScorer scorer(ctx, suppressing.transformer, {{4, 5, 2}});
    Ids written;
    for (const std::int32_t token : {7, 11, 9}) {
        const NextTokens& next = scorer.step({written.empty() ? config.frame.bos_id : written.back()}, {0}, 38);
        const auto expected = next_log_probabilities(ctx, suppressing.transformer, {4, 5, 2}, written);
        for (std::size_t rank = 0; rank < next.tokens.size(); ++rank) {
            CHECK(next.tokens[rank] != 0);
            CHECK(next.tokens[rank] != 17);
            CHECK(next.log_probabilities[rank] ==
                  Approx(expected[static_cast<std::size_t>(next.tokens[rank])]).margin(1e-4));
        }
        written.push_back(token);
    }
    CHECK(token_rules(config, {}).forbidden == Ids{1, 3});
    CHECK(token_rules(config, {}).suppressed == Ids{0, 17});
}

TEST_CASE("sinusoids begin at the first position") {
    const auto backend = open_device("cpu");
    ModelConfig config = tiny_config();
    config.positions.first = 2;
    Sinusoids sinusoids(config);
    const auto values = to_host<double>(*backend, sinusoids.table(*backend, 300));
    const std::vector<double> all = sinusoid_table(302, config.d_model, config.positions.layout);
    for (std::size_t i = 0; i < static_cast<std::size_t>(300 * config.d_model); ++i) {
        REQUIRE(values[i] == Approx(all[i + static_cast<std::size_t>(2 * config.d_model)]).margin(1e-6));
    }
}

TEST_CASE("a causal language model without bos predicts all pieces but the first") {
    const std::string device = GENERATE(from_range(conformance::devices_under_test()));
    INFO(device);
    const auto backend = open_device(device, environment_options());
    ModelConfig config = tiny_language_config(Architecture::CausalLm);
    config.frame.bos_id = -1;
    const LoadedModel translator = tiny_translator(*backend, config);
    config.frame.bos_id = 9;  // in today's terms: the first piece is bos
    const LoadedModel plain = tiny_translator(*backend, config);
    Context ctx{.backend = *backend};
    const std::vector<Ids> text{{9, 10, 11, 12}};
    const std::vector<Ids> rest{{10, 11, 12}};
    const auto found = force_texts(ctx, translator.models(), text).front();
    const auto expected = force_texts(ctx, plain.models(), rest).front();
    REQUIRE(found.size() == 4);
    REQUIRE(expected.size() == 4);
    for (std::size_t i = 0; i < 4; ++i) {
        CHECK(found[i].log_probability == Approx(expected[i].log_probability).margin(1e-5));
    }
    const DecodingOptions options{.search = {.beam = 1, .max_extra = 6}};
    const TextResult completed = translate_line(translator, "the small dog", options);
    CHECK(completed.source_ids == translator.model().target_tokenizer->encode("the small dog"));
    CHECK(translate(translator, {""}, options).front().problem.find("starts with a piece") == std::string::npos);
    CHECK_THAT(translate(translator, {""}, options).front().problem, Contains("the prompt is empty"));
    const auto scored = score_pairs(ctx, translator, {"", ""}, {"", "cat"}, 1024);
    CHECK_THAT(scored[0].problem, Contains("the text is empty"));
    CHECK(scored[1].problem.empty());
    CHECK(scored[1].target_ids.back() == 2);
    CHECK(scored[1].target_ids.size() == translator.model().target_tokenizer->encode("cat").size());
}

TEST_CASE("a translation begins with what the model gives, and is scored without it") {
    const std::string device = GENERATE(from_range(conformance::devices_under_test()));
    const int beam = GENERATE(1, 3);
    INFO(device << ", beam " << beam);
    const auto backend = open_device(device, environment_options());
    ModelConfig config = tiny_config();
    config.frame.target_begin = {20, 21};
    config.frame.source_begin = {22};
    config.frame.source_end = {};
    const LoadedModel translator = tiny_translator(*backend, config);
    Context ctx{.backend = *backend};
    const TextResult found =
        translate_line(translator, "the small dog", {.search = {.beam = beam, .max_extra = 4, .n_best = beam}});
    Ids source = translator.model().source_tokenizer->encode("the small dog");
    source.insert(source.begin(), 22);
    CHECK(found.source_ids == source);
    for (const Translation& translation : found.n_best) {
        REQUIRE(translation.ids.size() > 2);
        CHECK(Ids(translation.ids.begin(), translation.ids.begin() + 2) == config.frame.target_begin);
        Example pair{{source.begin() + 1, source.end()}, {translation.ids.begin() + 2, translation.ids.end()}};
        CHECK(translation.text == translator.model().target_tokenizer->decode(pair.target));
        const bool ended = translation.end == EndReason::EndOfSentence;
        if (ended) {
            pair.target.pop_back();
        }
        const auto tokens = force_targets(ctx, translator.models(), std::vector{pair}, {}, frame_of(config)).front();
        double sum = 0.0;
        for (std::size_t i = 0; i < pair.target.size() + (ended ? 1 : 0); ++i) {
            sum += tokens[i].log_probability;
        }
        CHECK(translation.log_probability == Approx(sum).margin(1e-4));
    }
    // A prefix of the user's follows it.
    const TextResult behind =
        translator
            .translate({{.text = "the small dog", .prefix = "eine katze"}}, {.search = {.beam = beam, .max_extra = 9}})
            .front();
    REQUIRE(behind.problem.empty());
    CHECK(behind.text.starts_with("eine katze"));
}

TEST_CASE("a missing or unknown language is an error that lists the model's") {
    ModelConfig config = tiny_config();
    CHECK(frame_of(config) == Frame{});
    CHECK_THROWS_WITH(frame_of(config, {.source = "deu"}), Contains("takes no source language, got \"deu\""));
    config.frame.source_begin = {kSourceLanguage};
    config.frame.source_end = {2, kSourceLanguage};
    config.frame.target_begin = {kTargetLanguage};
    config.frame.languages = {{"deu", 7}, {"fra", 8}};
    CHECK_THROWS_WITH(frame_of(config, {.target = "deu"}), Contains("--source-language: deu, fra"));
    CHECK_THROWS_WITH(frame_of(config, {.source = "deu"}), Contains("--target-language: deu, fra"));
    CHECK_THROWS_WITH(frame_of(config, {.source = "dev", .target = "deu"}),
                      Contains("unknown source language \"dev\"; did you mean \"deu\"? The model has: deu, fra"));
    const Frame frame = frame_of(config, {.source = "deu", .target = "fra"});
    CHECK(frame.source(Ids{20}) == Ids{7, 20, 2, 7});
    CHECK(frame.start() == Ids{1, 8});
    config.embedding.tying = Tying::None;
    config.frame.pad_id = 45;
    config.target_vocabulary = 50;
    CHECK(frame_of(config, {.source = "deu", .target = "fra"}).pad == 0);  // the source has no such id
    config.frame.pad_id = -1;
    CHECK(frame_of(config, {.source = "deu", .target = "fra"}).pad == 0);
}

TEST_CASE("the beginning of a line may choose the target language") {
    const auto backend = open_device("cpu");
    const LoadedModel translator = multilingual(*backend);
    const auto translated = [&](const std::string& line, const std::string& language) {
        DecodingOptions options{.search = {.max_extra = 6}};
        options.search.languages.target = language;
        return translate(translator, {line}, options).front();
    };
    const TextResult german = translated("the small dog", "deu");
    CHECK(german.source_ids.front() == translator.model().config.frame.languages.at("deu"));
    CHECK(translated("the small dog", "fra").source_ids.front() == translator.model().config.frame.languages.at("fra"));
    for (const char* line : {">>deu<< the small dog", " >>deu<<the small dog"}) {
        const TextResult chosen = translated(line, line[0] == ' ' ? "" : "fra");
        CHECK(chosen.source_ids == german.source_ids);
        CHECK(chosen.target_ids == german.target_ids);
        CHECK(std::string(line).substr(chosen.span.begin, chosen.span.end - chosen.span.begin).find("the small dog") !=
              std::string::npos);
    }
    CHECK_THAT(translated(">>deo<< the dog", "fra").problem,
               Contains("unknown target language \"deo\"") && Contains("\"deu\""));
    CHECK_THAT(translated("the dog", "").problem, Contains("--target-language: deu, fra"));
    CHECK_THROWS_WITH(translated("the dog", "english"), Contains("unknown target language \"english\""));
    CHECK(translated(">>deu<<", "").problem.empty());  // an empty line
    CHECK(translated(">>the dog", "deu").problem.empty());
    CHECK(translated(">>the dog<<", "deu").problem.empty());

    Context ctx{.backend = *backend};
    const auto scored = score_pairs(ctx, translator, {"the small dog", ">>deu<< the small dog", ">>deo<< the dog", "x"},
                                    {"hund", "hund", "hund", "hund"}, 1024, {.target = "deu"});
    CHECK(scored[0].log_probability == Approx(scored[1].log_probability).margin(1e-5));
    CHECK_THAT(scored[2].problem, Contains("\"deo\""));
    const auto other = score_pairs(ctx, translator, {"the small dog"}, {"hund"}, 1024, {.target = "fra"});
    CHECK(other[0].log_probability != Approx(scored[0].log_probability).margin(1e-5));
}
