// Trainings on texts with classes or numbers.
#include <fmt/format.h>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <string_view>

#include "model/model_directory.h"
#include "support/check.h"
#include "tests/train/responses_folder.h"
#include "train/labelled_parts.h"
#include "train/train_config.h"

using namespace headscope;
using Catch::Matchers::Contains;

namespace {

// Texts about animals, whose class or number says whether the first word is "the".
std::string texts(const char* yes, const char* no, int count = 80) {
    std::string lines;
    for (int i = 0; i < count; ++i) {
        const bool first = i % 2 == 0;
        lines +=
            fmt::format("{{\"text\": \"{} dog barks {}\", \"label\": {}}}\n", first ? "the" : "a", i, first ? yes : no);
    }
    return lines;
}

TrainingRequest request(const TemporaryFolder& folder, const std::string& text, const std::string& output,
                        std::int64_t steps = 6) {
    TrainingRequest request{.output = folder.file(output)};
    request.texts.text = text;
    request.texts.task = Task::Classify;
    request.adjust = [steps](RunConfig& config) {
        for (const char* key : {"source_tokens", "target_tokens"}) {
            config.set(key, 256);
        }
        config.unset("epochs");
        config.set("steps", steps);
        config.set("warmup_steps", 10);
        config.set("report_every", 2);
        config.set("validate_every", 3);
        config.set("checkpoint_every", 2);
        config.set("save", "f32");
    };
    return request;
}

}  // namespace

TEST_CASE("a stopped and resumed training on classes ends with the weights of an uninterrupted one", "[labelled_run]") {
    const bool numbers = GENERATE(false, true);
    const TemporaryFolder folder;
    const std::string file =
        folder.write("a.jsonl", numbers ? texts("1.5", "-0.5") : texts("\"definite\"", "\"other\""));
    std::string said;
    CHECK(
        run_job(request(folder, file, "whole"), {.say = [&](const std::string& line) { said += line + "\n"; }}).step ==
        6);
    CHECK_THAT(said, Contains("for training") && Contains(numbers ? "mse" : "accuracy"));
    CHECK((said.find("definite") == std::string::npos) == numbers);
    CHECK(said.find("perplexity") == std::string::npos);
    CHECK(run_job(request(folder, file, "broken"), {.stop_requested = stop_after(3)}).end == RunEnd::Stopped);
    TrainingRequest more{.config = RunConfig::of_run(folder.file("broken")), .output = folder.file("broken")};
    more.resume = true;
    CHECK(run_job(std::move(more), {}).step == 6);
    const auto backend = open_device("cpu");
    CHECK(weights_of_model(*backend, folder.file("broken/model")) ==
          weights_of_model(*backend, folder.file("whole/model")));
    const ModelConfig config = open_model_directory(folder.file("whole/model")).config;
    CHECK(config.output.head == (numbers ? OutputHead::Scalar : OutputHead::Classes));
    CHECK(config.output.labels ==
          (numbers ? std::vector<std::string>{} : std::vector<std::string>{"definite", "other"}));
    CHECK(config.output.scored == ScoredState::First);
}

TEST_CASE("a training learns classes that a word decides", "[labelled_run]") {
    const TemporaryFolder folder;
    run_job(request(folder, folder.write("a.jsonl", texts("\"yes\"", "\"no\"")), "out", 90), {});
    CHECK(logged(folder.file("out"), "validation").back().at("accuracy") == 1.0);
}

TEST_CASE("a training learns which classes a text has, of any number", "[labelled_run]") {
    const TemporaryFolder folder;
    std::string lines;
    for (int i = 0; i < 80; ++i) {
        const bool the = i % 2 == 0;
        const bool barks = i % 4 < 2;
        const char* both = the ? "[\"definite\", \"loud\"]" : "[\"loud\"]";
        lines += fmt::format("{{\"text\": \"{} dog {} {}\", \"label\": {}}}\n", the ? "the" : "a",
                             barks ? "barks" : "sleeps", i,
                             barks ? both
                             : the ? "[\"definite\"]"
                                   : "[]");
    }
    std::string said;
    run_job(request(folder, folder.write("a.jsonl", lines), "out", 120),
            {.say = [&](const std::string& line) { said += line + "\n"; }});
    CHECK_THAT(said, Contains("definite") && Contains("loud"));
    CHECK(logged(folder.file("out"), "validation").back().at("label_accuracy") == Approx(1.0));
    const ModelConfig config = open_model_directory(folder.file("out/model")).config;
    CHECK(config.output.head == OutputHead::Labels);
    CHECK(config.output.labels == std::vector<std::string>{"definite", "loud"});
    TrainingRequest other = request(folder, folder.write("b.jsonl", texts("\"yes\"", "\"no\"")), "other");
    other.from = folder.file("out/model");
    CHECK_THROWS_WITH(run_job(std::move(other), {}), Contains("the label is a class, but the model has any number"));
}

TEST_CASE("a language model of any family goes on to classes", "[labelled_run]") {
    const ResponsesFolder folder;  // with a causal model
    TrainingRequest from = request(folder, folder.write("a.jsonl", texts("\"yes\"", "\"no\"")), "out");
    from.from = folder.file("base/model");
    run_job(std::move(from), {});
    const ModelConfig config = open_model_directory(folder.file("out/model")).config;
    CHECK(config.architecture == Architecture::CausalLm);
    CHECK(config.output.scored == ScoredState::Last);
    CHECK(config.output.labels == std::vector<std::string>{"no", "yes"});

    // And from there with the same classes, but with no other ones.
    TrainingRequest again = request(folder, folder.write("a.jsonl", texts("\"yes\"", "\"no\"")), "again");
    again.from = folder.file("out/model");
    run_job(std::move(again), {});
    TrainingRequest other = request(folder, folder.write("b.jsonl", texts("\"yes\"", "\"perhaps\"")), "other");
    other.from = folder.file("out/model");
    CHECK_THROWS_WITH(run_job(std::move(other), {}),
                      Contains("the class \"perhaps\" is unknown to the model, which has no, yes"));
    TrainingRequest numbers = request(folder, folder.write("c.jsonl", texts("1", "2")), "numbers");
    numbers.from = folder.file("out/model");
    CHECK_THROWS_WITH(run_job(std::move(numbers), {}), Contains("the label is a number, but the model has classes"));
    std::string pairs;
    for (int i = 0; i < 40; ++i) {
        pairs +=
            fmt::format(R"({{"text": "the dog", "pair": "a cat {}", "label": "{}"}})", i, i % 2 == 0 ? "yes" : "no") +
            "\n";
    }
    TrainingRequest two = request(folder, folder.write("d.jsonl", pairs), "two");
    two.from = folder.file("base/model");
    CHECK_THROWS_WITH(run_job(std::move(two), {}), Contains("line 1") && Contains("nothing to tell two texts apart"));
}

TEST_CASE("a file of one class, and one of few texts, are named", "[labelled_run][bad_input]") {
    const TemporaryFolder folder;
    const auto split = [&](const std::string& lines) {
        split_labelled(folder.write("a.jsonl", lines), folder.file("data"), 1);
    };
    CHECK_THROWS_WITH(split(texts("\"yes\"", "\"yes\"")), Contains("holds texts of one class, \"yes\""));
    CHECK_THROWS_WITH(split(texts("[]", "[]")), Contains("holds only empty lists of classes"));
    CHECK_THROWS_WITH(split(texts("\"yes\"", "\"no\"", 4)), Contains("4 different texts") && Contains("at least 20"));
}

TEST_CASE("settings that mean nothing to classes or numbers are named", "[labelled_run][bad_input]") {
    const auto complaint = [](const char* family, const nlohmann::json& output, const nlohmann::json& training) {
        const char* layers = family == std::string_view("causal-lm") ? "decoder_layers" : "encoder_layers";
        const nlohmann::json config{
            {"task", "classify"},
            {"model", {{"architecture", family}, {layers, 1}, {"d_model", 8}, {"output", output}}},
            {"data", {{"train", {{"text", "a.jsonl"}}}}},
            {"tokenizer", {{"vocabulary", 100}}},
            {"training", training}};
        return error_of([&] { check_train_config(parse_train_config(config, "c.json", "")); });
    };
    const nlohmann::json classes{{"head", "classes"}, {"labels", {"no", "yes"}}};
    const nlohmann::json number{{"head", "scalar"}};
    CHECK(complaint("causal-lm", classes, {{"steps", 1}}).empty());
    CHECK_THAT(
        complaint("causal-lm", {{"head", "scalar"}, {"scored", "first"}}, {{"steps", 1}, {"label_smoothing", 0}}),
        Contains("whose first piece sees no other"));
    CHECK(complaint("masked-lm", {{"head", "scalar"}, {"scored", "first"}}, {{"steps", 1}, {"label_smoothing", 0}})
              .empty());
    CHECK_THAT(complaint("masked-lm", {{"head", "vocabulary"}}, {{"steps", 1}}),
               Contains("must be \"classes\", for lists of classes \"labels\" or, for numbers, \"scalar\""));
    CHECK_THAT(complaint("masked-lm", number, {{"steps", 1}, {"label_smoothing", 0.1}}),
               Contains("must be 0 for numbers"));
}
