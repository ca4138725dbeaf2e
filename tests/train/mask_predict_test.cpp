// Training a translator that fills in masks.
#include <nlohmann/json.hpp>

#include "io/whole_file.h"
#include "support/check.h"
#include "tests/infer/translate_text.h"
#include "tests/train/digits_run.h"

using namespace headscope;
using Catch::Matchers::Contains;
using nlohmann::json;

namespace {

json masking(const TemporaryFolder& folder) {
    json settings = write_digits(folder);
    settings["model"]["generation"] = "mask_predict";
    return settings;
}

// Numbers below 100, few enough to be learned by heart.
std::vector<DigitsPair> few_numbers() {
    std::vector<DigitsPair> pairs;
    for (std::int64_t number = 3; number < 100; number += 4) {
        pairs.push_back(digits_pair(number));
    }
    return pairs;
}

int right(const DigitsRun& run, const std::vector<DigitsPair>& pairs, const DecodingChoices& choices) {
    const LoadedModel translator(*run.backend, run.output_folder + "/model");
    std::vector<std::string> sources;
    for (const DigitsPair& pair : pairs) {
        sources.push_back(pair.digits);
    }
    const auto found = translate(translator, sources, {.search = translator.search_options(choices)});
    int count = 0;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        count += found[i].text == pairs[i].words ? 1 : 0;
    }
    return count;
}

}  // namespace

TEST_CASE("mask-predict learns numbers by heart and writes them in one iteration or several", "[train]") {
    const TemporaryFolder folder;
    json settings = masking(folder);
    const std::vector<DigitsPair> pairs = few_numbers();
    std::string text;
    for (const DigitsPair& pair : pairs) {
        text += pair.digits + "\t" + pair.words + "\n";
    }
    folder.write("train.tsv", text);
    settings["tokenizer"]["vocabulary"] = 48;
    settings["training"].update({{"steps", 700},
                                 {"warmup_steps", 100},
                                 {"residual_dropout", 0.0},
                                 {"embedding_dropout", 0.0},
                                 {"attention_dropout", 0.0},
                                 {"activation_dropout", 0.0},
                                 {"checkpoint_every", 700},
                                 {"validate_every", 0}});
    DigitsRun run(folder, settings, "out");
    run.start().train();
    run.training->write_model(run.output_folder + "/model");
    const ModelDirectory model = open_model_directory(run.output_folder + "/model");
    CHECK(model.target_tokenizer->piece(model.config.frame.mask_id) == "<mask>");
    const int all = static_cast<int>(pairs.size());
    CHECK(right(run, pairs, {.iterations = 1, .length_candidates = 1}) >= all - 2);
    CHECK(right(run, pairs, {.iterations = 4, .length_candidates = 3}) >= all - 2);
    CHECK(right(run, pairs, {}) >= all - 2);
}

TEST_CASE("a resumed training of mask-predict ends with the same weights, and validation repeats", "[train]") {
    const TemporaryFolder folder;
    json settings = masking(folder);
    settings["training"]["validate_bleu"] = 3;
    settings["data"]["bpe_dropout"] = 0.1;
    DigitsRun run(folder, settings, "out");
    run.start().train();
    CHECK_THAT(run.said, Contains("  BLEU "));
    const auto resumed = stopped_and_finished(folder, settings, "again", 9);
    CHECK(resumed->weights() == run.weights());
    const auto validations = [&](const DigitsRun& of) {
        std::string lines;
        for (const json& line : logged(of.output_folder, "validation")) {
            lines += line["nll"].dump() + line["loss"].dump() + line["bleu"].dump() + "\n";
        }
        return lines;
    };
    CHECK(validations(*resumed) == validations(run));
    settings["model"].erase("generation");
    CHECK_THROWS_WITH(DigitsRun(folder, settings, "out").start(true), Contains("model"));
}

TEST_CASE("a tokenizer without a mask is refused by key", "[train]") {
    const TemporaryFolder folder;
    json settings = write_digits(folder);
    DigitsRun ordinary(folder, settings, "ordinary");
    const TrainingData data = ordinary.prepare_data();
    const DigitsRun masks(folder, masking(folder), "masks");
    CHECK_THROWS_WITH(
        prepare_training_data(masks.config, masks.output_folder + "/tokenizer",
                              {.given = std::pair(data.source_tokenizer, data.target_tokenizer)}, masks.hooks.say),
        Contains("\"frame.mask_id\" must be the id of a piece with \"generation\" \"mask_predict\""));
}
