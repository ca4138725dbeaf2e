// How sure models are of their outputs, against transformers (tests/golden/make_confidence_answers.py).
#include "answers/confidence.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <nlohmann/json.hpp>

#include "import/open_model.h"
#include "io/strict_json.h"
#include "registry/registry.h"
#include "tests/house/files.h"
#include "tests/infer/translate_text.h"

using namespace headscope;
using nlohmann::json;

namespace {

LoadedModel with_temperature(Backend& backend, const std::string& name, double temperature) {
    ModelDirectory model = open_model(checkout_file("tests/import/models/" + name));
    model.config.output.temperature = temperature;
    auto parameters = read_parameters(backend, model, DType::F32);
    return {backend, std::move(model), std::move(parameters)};
}

DecodingOptions greedy(const LoadedModel& model, std::int64_t pieces) {
    DecodingOptions options{.search = model.search_options({})};
    options.search.beam = 1;
    options.search.allow_unknown = true;
    options.search.force_end = false;
    options.search.min_length = 0;
    options.search.max_extra = pieces;
    options.search.max_length = traits(model.model().config.architecture).continues_text ? 0 : pieces;
    return options;
}

}  // namespace

TEST_CASE("confidence, pieces' probabilities and task prefixes are those of transformers", "[confidence]") {
    constexpr std::int64_t kPieces = 12;
    const auto backend = open_device("cpu");
    for (const json& item : read_json_file(checkout_file("tests/answers/confidence.json"))) {
        INFO(item.dump());
        const LoadedModel model = with_temperature(*backend, item["model"], item["temperature"]);
        DecodingOptions options = greedy(model, kPieces);
        options.search.languages.task_prefix = item["prefix"];
        const TextResult found = translate_line(model, item["text"], options);
        CHECK(found.source_ids == item["source"].get<std::vector<std::int32_t>>());
        CHECK(found.target_ids == item["ids"].get<std::vector<std::int32_t>>());
        const std::vector<double> expected = item["log_probabilities"];
        REQUIRE(found.n_best.front().token_log_probabilities.size() == expected.size());
        double of_words = 0.0;
        for (std::size_t i = 0; i < expected.size(); ++i) {
            CHECK(found.n_best.front().token_log_probabilities[i] == Approx(expected[i]).margin(1e-4));
            of_words += found.target_ids[i] == model.model().target_tokenizer->eos_id() ? 0.0 : expected[i];
        }
        CHECK(confidence_of(found, 0).value() == Approx(item["confidence"].get<double>()).epsilon(1e-4));
        double sum = 0.0;
        for (const WordProbability& word : word_probabilities(*model.model().target_tokenizer, found, 0)) {
            CHECK(word.word.find(' ') == std::string::npos);
            sum += std::log(word.probability);
        }
        CHECK(sum == Approx(of_words).margin(1e-3));
    }
}

TEST_CASE("a rule doubts what is less sure than its limit", "[confidence]") {
    CHECK(UnsureRule{.least = 0.5}.holds(0.4999));
    CHECK_FALSE(UnsureRule{.least = 0.5}.holds(0.5));
    CHECK_FALSE(UnsureRule{}.holds(0.0));
    CHECK_FALSE(UnsureRule{.least = 1.0}.holds(std::nullopt));  // an empty line
    TextResult empty_line;
    empty_line.n_best.emplace_back();
    CHECK_FALSE(confidence_of(empty_line, 0));
    CHECK(words_column({{"a", 0.5}, {"b", 1.0}}) == " ||| 0.5000 1.0000");
    CHECK(words_column({}) == " |||");
}
