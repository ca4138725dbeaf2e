// Training a model whose texts have other tokens around them.
#include <map>

#include <nlohmann/json.hpp>

#include "data/corpus.h"
#include "io/whole_file.h"
#include "support/check.h"
#include "tests/infer/translate_text.h"
#include "tests/train/digits_run.h"

using namespace headscope;
using Catch::Matchers::Contains;
using nlohmann::json;

TEST_CASE("A model of several languages is trained on pairs of one", "[train]") {
    const TemporaryFolder folder;
    json settings = write_digits(folder);
    settings["model"]["source_begin"] = {5};
    settings["model"]["source_end"] = json::array();
    settings["model"]["target_begin"] = {"target_language"};
    settings["model"]["languages"] = {{"eng", 6}, {"deu", 7}};
    settings["model"]["bos_id"] = 2;
    settings["training"]["validate_bleu"] = 3;
    CHECK_THROWS_WITH(DigitsRun(folder, settings, "none").start(), Contains("needs a target language"));
    settings["data"]["target_language"] = "deu";
    DigitsRun run(folder, settings, "out");
    run.start().train();
    run.training->write_model(run.output_folder + "/model");
    const std::string file = run.output_folder + "/model/decoding.json";
    CHECK(json::parse(read_whole_file(file, file)).at("target_language") == "deu");
    const LoadedModel translator(*run.backend, run.output_folder + "/model");
    const TextResult found = translate_line(translator, "4 7", {.search = translator.search_options({.max_extra = 4})});
    CHECK(found.source_ids.front() == 5);
    CHECK(found.source_ids.back() != 2);
    CHECK(found.target_ids.front() == 7);
    // Only what follows the given tokens is learned, as always: resuming gives the same weights.
    CHECK(stopped_and_finished(folder, settings, "again", 9)->weights() == run.weights());
}

namespace {

// Digits to words, and words to digits: two tasks of one model.
json both_ways(const TemporaryFolder& folder) {
    json settings = write_digits(folder);
    for (const char* part : {"train", "valid"}) {
        const std::string forward = part + std::string(".tsv");
        std::string backward;
        const ParallelText text = read_tsv(folder.file(forward));
        for (std::size_t i = 0; i < text.source.size(); ++i) {
            backward += text.target[i] + "\t" + text.source[i] + "\n";
        }
        folder.write("back-" + forward, backward);
        settings["data"][part] = {{{"tsv", forward}, {"target_language", "words"}},
                                  {{"tsv", "back-" + forward}, {"target_language", "digits"}}};
    }
    settings["training"]["validate_bleu"] = 5;
    return settings;
}

}  // namespace

TEST_CASE("One model learns several tasks, each by the token before its sources", "[train]") {
    const TemporaryFolder folder;
    const json settings = both_ways(folder);
    DigitsRun run(folder, settings, "out");
    const TrainingData data = run.prepare_data();
    CHECK(data.source_tokenizer->piece(4) == ">>words<<");
    CHECK(data.source_tokenizer->piece(5) == ">>digits<<");
    CHECK(data.frame.around_source() == 2);
    // As many of each corpus: their lines name the task.
    REQUIRE(data.valid_text.source.size() == 5);
    CHECK(data.valid_text.source[1].starts_with(">>words<< "));
    CHECK(data.valid_text.source[2].starts_with(">>digits<< "));
    CHECK_THAT(run.said, Contains("data.train[1]: ") && Contains("data.valid[0]: "));
    std::map<std::int32_t, int> tokens;
    const Epoch epoch = data.train->epoch(0);
    for (std::uint32_t i = 0; i < epoch.examples(); ++i) {
        const Example example = data.train->example(epoch, i);
        REQUIRE(example.source_begin.size() == 1);
        ++tokens[example.source_begin.front()];
    }
    CHECK(tokens[4] == tokens[5]);

    run.start().train();
    run.training->write_model(run.output_folder + "/model");
    const LoadedModel translator(*run.backend, run.output_folder + "/model");
    const auto found = [&](const char* line, const char* language) {
        DecodingOptions options{.search = translator.search_options({.max_extra = 4})};
        options.search.languages.target = language;
        return translate_line(translator, line, options);
    };
    CHECK(found("4 7", "words").source_ids.front() == 4);
    CHECK(found("vier", "digits").source_ids.front() == 5);
    CHECK(found(">>digits<< vier", "").source_ids == found("vier", "digits").source_ids);
    CHECK_THROWS_WITH(found("4 7", "french"),
                      Contains("unknown target language \"french\"") && Contains("The model has: digits, words"));
    CHECK_THROWS_WITH(found("4 7", ""),
                      Contains("this model needs a target language") && Contains("--target-language: digits, words"));
    const std::string file = run.output_folder + "/model/decoding.json";
    CHECK_FALSE(json::parse(read_whole_file(file, file)).contains("target_language"));
    CHECK(stopped_and_finished(folder, settings, "again", 9)->weights() == run.weights());
}

TEST_CASE("A model of several tasks goes on with the languages that it has", "[train]") {
    const TemporaryFolder folder;
    json settings = both_ways(folder);
    settings["model"]["source_begin"] = {"target_language"};
    settings["model"]["languages"] = {{"words", 5}, {"digits", 4}};
    DigitsRun swapped(folder, settings, "swapped");
    CHECK_THROWS_WITH(swapped.prepare_data(),
                      Contains("reads >>words<< before their sources") && Contains("by the piece '>>digits<<'"));
    settings["model"]["languages"] = {{"words", 4}, {"digits", 5}};
    settings["model"]["target_begin"] = {"target_language"};
    DigitsRun elsewhere(folder, settings, "elsewhere");
    CHECK_THROWS_WITH(elsewhere.prepare_data(), Contains("\"frame\" names it elsewhere, too"));
}
