// BLEU of held-out text while a model is being trained.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "eval/bleu.h"
#include "tests/infer/translate_text.h"
#include "tests/ops/devices.h"
#include "tests/train/digits_run.h"

using namespace headscope;
using Catch::Matchers::Contains;

namespace {

constexpr std::size_t kPairs = 30;

// A text whose translations have words in common, so that a few steps give matches of four words.
nlohmann::json learning(const TemporaryFolder& folder) {
    nlohmann::json settings = write_digits(folder);
    std::string train, valid;
    for (const DigitsPair& pair : make_digits_task(700, 1)) {
        const std::string line = pair.digits + "\tdas ist die Zahl " + pair.words + "\n";
        (train.size() < 40'000 ? train : valid) += line;
    }
    folder.write("train.tsv", train);
    folder.write("valid.tsv", valid);
    settings["training"].update({{"learning_rate_scale", 3.0}, {"steps", 40}, {"average_last", 1}});
    return settings;
}

nlohmann::json with_bleu(nlohmann::json settings, std::size_t pairs = kPairs) {
    settings["training"]["validate_bleu"] = pairs;
    return settings;
}

// The score of a written model on the first pairs of valid.tsv, decoded greedily, otherwise with its own or with the
// paper's settings.
enum class Decoding { AsItWants, AsThePaper };
double score_of(const DigitsRun& run, const TemporaryFolder& folder, std::size_t pairs,
                Decoding decoding = Decoding::AsItWants) {
    ParallelText text = read_tsv(folder.file("valid.tsv"));
    text.source.resize(std::min(text.source.size(), pairs));
    text.target.resize(std::min(text.target.size(), pairs));
    const LoadedModel translator(*run.backend, run.output_folder + "/model");
    DecodingOptions options;
    if (decoding == Decoding::AsItWants) {
        options.search = translator.search_options({});
        options.split_longer_than = translator.decoding_choices().split_longer_than;
    }
    options.search.beam = 1;
    std::vector<std::string> translations;
    for (const TextResult& sentence : translate(translator, text.source, options)) {
        translations.push_back(sentence.text);
    }
    return corpus_bleu(translations, text.target).score;
}

}  // namespace

TEST_CASE("validation BLEU is the score of that step's model, and changes no bit of a training", "[bleu]") {
    const std::string device = GENERATE(from_range(conformance::devices_under_test()));
    INFO(device);
    const TemporaryFolder folder;
    const nlohmann::json settings = learning(folder);
    DigitsRun plain(folder, settings, "plain", device);
    plain.start().train();
    DigitsRun run(folder, with_bleu(settings), "measured", device);
    run.start().train();
    CHECK(run.weights() == plain.weights());
    CHECK_THAT(run.said, Contains("  BLEU "));

    const auto lines = logged(run.output_folder, "validation");
    const auto without = logged(plain.output_folder, "validation");
    REQUIRE(lines.size() == 5);
    REQUIRE(without.size() == lines.size());
    for (std::size_t i = 0; i < lines.size(); ++i) {
        CHECK(lines[i]["nll"] == without[i]["nll"]);
        CHECK_FALSE(without[i].contains("bleu"));
    }
    run.training->write_model(run.output_folder + "/model");
    const double score = score_of(run, folder, kPairs);
    CHECK(score > 0.0);
    CHECK(lines.back()["bleu"] == Approx(score));
    CHECK(logged(run.output_folder, "model").back()["bleu"] == Approx(score));
}

TEST_CASE("validation BLEU is the same across a stop", "[bleu]") {
    const TemporaryFolder folder;
    nlohmann::json settings = with_bleu(learning(folder));
    settings["training"]["ema_decay"] = 0.9;
    DigitsRun unbroken(folder, settings, "unbroken");
    unbroken.start().train();
    const auto resumed = stopped_and_finished(folder, settings, "broken", 11);
    const DigitsRun& second = *resumed;
    CHECK(second.weights() == unbroken.weights());
    const auto lines = logged(second.output_folder, "validation");
    CHECK(lines == logged(unbroken.output_folder, "validation"));
    CHECK(lines.back().contains("bleu"));
}

TEST_CASE("validation BLEU uses the mean of the weights if that has the lower loss", "[bleu]") {
    const TemporaryFolder folder;
    nlohmann::json settings = with_bleu(learning(folder));
    settings["training"]["ema_decay"] = 0.9;
    // With large steps their mean is better.
    settings["training"]["learning_rate_scale"] = 14.0;
    DigitsRun run(folder, settings, "out");
    run.start().train();
    DigitsRun plain(folder, with_bleu(settings, 0), "plain");
    plain.start().train();
    CHECK(run.weights() == plain.weights());
    nlohmann::json best;
    for (const nlohmann::json& line : logged(run.output_folder, "validation")) {
        best = line["best"] == true ? line : best;
    }
    REQUIRE(best["mean_nll"] < best["nll"]);
    run.training->write_model(run.output_folder + "/model");
    INFO(run.said);
    CHECK(best["bleu"] > 0.0);
    CHECK(best["bleu"] == Approx(score_of(run, folder, kPairs)));
    CHECK(logged(run.output_folder, "model").back()["bleu"] == best["bleu"]);
}

TEST_CASE("more pairs than the text has are all of them, including long ones", "[bleu]") {
    const TemporaryFolder folder;
    nlohmann::json settings = with_bleu(learning(folder), 1'000'000);
    std::string longest = "7";
    for (int i = 0; i < 70; ++i) {
        longest += " 7";
    }
    folder.write("valid.tsv", "1 2\teins zwei\n" + longest + "\tsieben sieben\n3 4\tdrei vier\n");
    DigitsRun run(folder, settings, "out");
    run.start().train();
    CHECK_THAT(run.said, Contains("1 too long"));
    run.training->write_model(run.output_folder + "/model");
    CHECK_THAT(run.said, Contains("of its greedy translations of 3 held-out pairs"));
    CHECK(logged(run.output_folder, "model").back()["bleu"] == Approx(score_of(run, folder, 3)));
}

TEST_CASE("validation BLEU decodes like the final model", "[bleu]") {
    const TemporaryFolder folder;
    nlohmann::json settings = with_bleu(learning(folder), 40);
    settings["training"]["max_length"] = 32;
    std::string source, target, valid;
    for (int i = 0; i < 12; ++i) {  // a line of more than 32 pieces, but not too long for the model
        source += "4 7 1! ";
        target += "das ist die Zahl vierhunderteinundsiebzig ";
    }
    for (int i = 0; i < 20; ++i) {
        valid += source + "\t" + target + "\n";
    }
    folder.write("valid.tsv", valid + "1 2\teins zwei\n");
    // Lines longer than the training text are split.
    DigitsRun run(folder, settings, "out");
    run.start().train();
    run.training->write_model(run.output_folder + "/model");
    const double score = score_of(run, folder, 40);
    CHECK(logged(run.output_folder, "model").back()["bleu"] == Approx(score));
    CHECK(std::abs(score - score_of(run, folder, 40, Decoding::AsThePaper)) > 0.01);

    // A choice made later.
    folder.write("out/model/decoding.json", "{\"max_extra\": 1, \"no_repeat_ngram\": 2, \"beam\": 3}");
    DigitsRun again(folder, settings, "out");
    again.start(true);
    again.training->write_model(again.output_folder + "/model");
    CHECK(logged(again.output_folder, "model").back()["bleu"] == Approx(score_of(again, folder, 40)));
    CHECK(std::abs(score - score_of(again, folder, 40)) > 0.01);
}

TEST_CASE("validation BLEU needs validation text and validations", "[bleu]") {
    const TemporaryFolder folder;
    nlohmann::json settings = with_bleu(learning(folder));
    settings["training"]["validate_every"] = 0;
    CHECK_THAT(error_of([&] { DigitsRun(folder, settings, "out"); }),
               Contains("\"training.validate_bleu\" (30)") && Contains("\"training.validate_every\" is 0"));
    settings = with_bleu(learning(folder));
    settings["data"].erase("valid");
    CHECK_THAT(error_of([&] { DigitsRun(folder, settings, "out"); }),
               Contains("\"training.validate_bleu\" (30)") && Contains("\"data.valid\""));
}
