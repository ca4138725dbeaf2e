#include "train/run_tokenizers.h"

#include <catch2/catch.hpp>
#include <filesystem>

#include "tests/train/digits_run.h"

using namespace headscope;

TEST_CASE("tokenizers of an earlier attempt are replaced", "[tokenizers]") {
    const TemporaryFolder folder;
    nlohmann::json settings = write_digits(folder);
    const TrainingData shared = DigitsRun(folder, settings, "out").prepare_data();
    CHECK(shared.source_tokenizer == shared.target_tokenizer);
    settings["tokenizer"]["shared"] = false;
    settings["model"]["tying"] = "none";
    settings["tokenizer"]["target"] = {{"vocabulary", 40}};
    settings["tokenizer"]["vocabulary"] = 22;
    const TrainingData own = DigitsRun(folder, settings, "out").prepare_data();
    CHECK(own.source_tokenizer != own.target_tokenizer);
    CHECK(own.source_tokenizer->size() < shared.source_tokenizer->size());
}

TEST_CASE("a run copies the tokenizers that it is given", "[tokenizers]") {
    const TemporaryFolder folder;
    nlohmann::json settings = write_digits(folder);
    const DigitsRun first(folder, settings, "first");
    first.prepare_data();
    settings["tokenizer"]["vocabulary"] = 60;
    const DigitsRun second(folder, settings, "second");
    const TrainingData data =
        prepare_training_data(second.config, folder.file("second/tokenizer"),
                              {.given = load_tokenizers(folder.file("first/tokenizer"))}, second.hooks.say);
    CHECK(data.source_tokenizer->size() == 72);
    CHECK(std::filesystem::exists(folder.file("second/tokenizer/sentencepiece.model")));
}
