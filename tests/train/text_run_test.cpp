// Trainings of language models, from text to a model directory.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>

#include "model/model_directory.h"
#include "tests/train/digits_run.h"
#include "train/text_tasks.h"

using namespace headscope;
using Catch::Matchers::Contains;
using nlohmann::json;

namespace {

json settings_of(const std::string& task) {
    json settings = json::parse(R"({
        "model": {"d_model": 32, "d_ff": 64, "heads": 2, "norm": "pre"},
        "data": {"train": [{"text": "train.txt", "weight": 1.5}, {"text": ["more.txt"]}],
                 "valid": {"text": "valid.txt"}, "documents": "paragraph"},
        "tokenizer": {"type": "bpe", "vocabulary": 60},
        "training": {"steps": 14, "source_tokens": 256, "target_tokens": 256, "warmup_steps": 40, "max_length": 32,
                     "attention_dropout": 0.1, "report_every": 5, "validate_every": 4, "checkpoint_every": 4,
                     "checkpoint_minutes": 0, "average_last": 2, "ema_decay": 0.9}
    })");
    settings["task"] = task;
    settings["model"][task == "causal" ? "decoder_layers" : "encoder_layers"] = 1;
    if (task == "span") {
        settings["model"]["decoder_layers"] = 1;
    }
    return settings;
}

// Paragraphs of one to three lines, one of them far longer than a block.
void write_text(const TemporaryFolder& folder) {
    std::string train, more;
    std::size_t number = 0;
    for (const TextTaskLine& line : make_cloze_task(160, 1)) {
        (number < 120 ? train : more) += line.text + "\n" + (number % 3 == 0 ? "\n" : "");
        ++number;
    }
    std::string endless;
    for (int i = 0; i < 300; ++i) {
        endless += "the dogs near the cat bark loudly ";
    }
    folder.write("train.txt", train);
    folder.write("more.txt", more + "\n" + endless + "\n");
    folder.write("valid.txt", "the owls below the pig hoot often\n\nthe pig grunts\n");
}

}  // namespace

TEST_CASE("a stopped and resumed training of a language model ends with the weights of an uninterrupted one",
          "[text_run]") {
    const std::string task = GENERATE("causal", "masked", "span");
    INFO(task);
    const TemporaryFolder folder;
    write_text(folder);
    const json settings = settings_of(task);
    DigitsRun whole(folder, settings, "whole");
    whole.start().train();
    CHECK_THAT(whole.said, Contains("data.train[0]: 41 documents") && Contains("validation data: 2 documents"));
    const int stop = GENERATE(3, 9);
    CHECK(stopped_and_finished(folder, settings, "broken", stop)->weights() == whole.weights());

    whole.training->write_model(folder.file("model"));
    const ModelDirectory model = open_model_directory(folder.file("model"));
    CHECK(model.source_tokenizer == model.target_tokenizer);
    CHECK(model.config.frame.mask_id == (task == "masked" ? 4 : -1));
    CHECK(model.target_tokenizer->id_of("<extra_id_0>") == (task == "span" ? 4 : 3));
    CHECK(!std::filesystem::exists(folder.file("model/decoding.json")));
    const std::vector<json> validations = logged(whole.output_folder, "validation");
    REQUIRE(validations.size() == 3);
    CHECK(validations[2]["nll"] < validations[0]["nll"]);
}

TEST_CASE("validation of a masked model repeats its masks", "[text_run]") {
    const TemporaryFolder folder;
    write_text(folder);
    const auto labels_with_seed = [&](int seed) {
        json settings = settings_of("masked");
        settings["training"].update({{"seed", seed}, {"label_smoothing", 0.0}});
        const DigitsRun run(folder, settings, "out" + std::to_string(seed));
        const TrainingData data = run.prepare_data();
        const Epoch epoch = data.valid->epoch(0);
        REQUIRE(epoch.examples() == 2);
        for (std::uint32_t i = 0; i < 2; ++i) {  // one document each
            CHECK(data.valid->example(epoch, i).target.front() == 1);
            CHECK(data.valid->example(epoch, i).target.back() == 2);
        }
        return std::pair(data.valid->example(epoch, 0).labels, data.train->example(data.train->epoch(0), 0).labels);
    };
    const auto [valid, train] = labels_with_seed(1);
    CHECK(labels_with_seed(2).first == valid);
    CHECK(labels_with_seed(2).second != train);
}

TEST_CASE("a document of unknown words has pieces to predict", "[text_run]") {
    const TemporaryFolder folder;
    write_text(folder);
    folder.write("valid.txt", "\u65e5\u672c\n");
    json settings = settings_of("masked");
    settings["tokenizer"]["type"] = "wordpiece";
    const DigitsRun run(folder, settings, "out");
    const TrainingData data = run.prepare_data();
    const Example example = data.valid->example(data.valid->epoch(0), 0);
    CHECK(std::any_of(example.labels.begin(), example.labels.end(), [](std::int32_t id) { return id != kNoTarget; }));
}

TEST_CASE("the architecture follows the task", "[text_run]") {
    const auto complaint = [](const std::string& task, const std::function<void(json&)>& change) {
        json settings = settings_of(task);
        change(settings);
        return error_of([&] { check_train_config(parse_train_config(settings, "c.json", "")); });
    };
    const auto nothing = [](json&) {};
    CHECK(complaint("causal", nothing).empty());
    const TrainConfig causal = parse_train_config(settings_of("causal"), "c.json", "");
    CHECK(causal.model_config(60, 60).architecture == Architecture::CausalLm);
    CHECK(causal.model_config(60, 60).encoder_layers == 0);
    CHECK(causal.identity()["task"] == "causal");
    CHECK(!parse_train_config(settings_of("span"), "c.json", "").identity()["model"].contains("architecture"));
    CHECK_THAT(complaint("masked", [](json& c) { c["model"]["architecture"] = "causal-lm"; }),
               Contains("\"model.architecture\" must be \"masked-lm\"") && Contains("\"task\" \"masked\""));
    CHECK_THAT(complaint("masked", [](json& c) { c["model"]["mask_id"] = 7; }), Contains("\"model.frame.mask_id\""));
    CHECK_THAT(complaint("causal", [](json& c) { c["task"] = "casual"; }), Contains("\"task\"") && Contains("masked"));
    CHECK_THAT(complaint("causal",
                         [](json& c) {
                             c["data"]["train"] = {{"tsv", "a"}};
                         }),
               Contains("\"data.train\" must have \"text\""));
    CHECK_THAT(complaint("causal", [](json& c) { c["data"]["bpe_dropout"] = 0.1; }), Contains("data.bpe_dropout"));
    CHECK_THAT(complaint("causal", [](json& c) { c["data"]["whole_words"] = true; }), Contains("data.whole_words"));
    CHECK_THAT(complaint("span", [](json& c) { c["task"] = "translate"; }),
               Contains("text\"") && Contains("is for language models"));
    CHECK_THAT(complaint("causal", [](json& c) { c["training"]["validate_bleu"] = 5; }),
               Contains("\"training.validate_bleu\" (5)") && Contains("\"causal\""));
    CHECK_THAT(complaint("span", [](json& c) { c["tokenizer"]["shared"] = false; }), Contains("\"tokenizer.shared\""));
    CHECK_THAT(complaint("span", [](json& c) { c["training"]["max_length"] = 7; }), Contains("at least 8"));
}

TEST_CASE("texts that nothing can be learned from are errors, and unusual ones are not", "[text_run]") {
    const std::string task = GENERATE("causal", "masked", "span");
    const TemporaryFolder folder;
    const auto run = [&](const std::string& text, const std::string& form = "line") {
        json settings = settings_of(task);
        settings["data"] = {{"train", {{"text", "my.txt"}}}, {"documents", form}};
        settings["tokenizer"]["vocabulary"] = 14;
        settings["training"]["steps"] = 2;
        folder.write("my.txt", text);
        return error_of([&] { DigitsRun(folder, settings, "out").start().train(); });
    };
    CHECK_THAT(run(" \n\n"), Contains("\"data.train\"") && Contains("my.txt") && Contains("hold no text"));
    CHECK_THAT(run("a\nb\xff\n"), Contains("my.txt' line 2") && Contains("UTF-8"));
    CHECK_THAT(run("a\n"), Contains("\"tokenizer.vocabulary\" 14"));  // more pieces than there can be
    CHECK(run("abcdef").empty());
    CHECK(run("abab cdcd abcd\n").empty());  // one document of few pieces
    std::string endless;
    for (int i = 0; i < 5000; ++i) {
        endless += "ab cd abcd dcba ";
    }
    CHECK(run(endless).empty());
    CHECK(run(endless + "\n\nab\n", "paragraph").empty());
}
