// Trainings that go on with a language model: on responses, on ranked ones, and on preferences.
#include <fmt/format.h>
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "infer/response_scores.h"
#include "model/model.h"
#include "model/model_directory.h"
#include "support/check.h"
#include "tests/train/responses_folder.h"
#include "train/encode_responses.h"
#include "train/log_reader.h"
#include "train/objective.h"
#include "train/response_parts.h"
#include "train/text_tasks.h"
#include "train/training_job.h"

using namespace headscope;
using Catch::Matchers::Contains;

namespace {

const Task& task_named(const std::string& key) {
    return find_task(key)->task;
}

}  // namespace

TEST_CASE("a stopped and resumed training on responses ends with the weights of an uninterrupted one",
          "[responses_run]") {
    const std::string key = GENERATE("sft", "reward", "dpo");
    INFO(key);
    const ResponsesFolder folder;
    std::string said;
    const auto say = [&](const std::string& line) { said += line + "\n"; };
    CHECK(run_job(folder.request(task_named(key), "whole"), {.say = say}).step == 7);
    CHECK_THAT(said, Contains("for training") && Contains("tokens are of responses"));
    CHECK((said.find("accuracy") != std::string::npos) == (key != "sft"));
    CHECK((said.find("perplexity") != std::string::npos) == (key == "sft"));

    CHECK(run_job(folder.request(task_named(key), "broken"), {.stop_requested = stop_after(3)}).end == RunEnd::Stopped);
    TrainingRequest more{.config = RunConfig::of_run(folder.file("broken")), .output = folder.file("broken")};
    more.resume = true;
    CHECK(run_job(std::move(more), {}).step == 7);
    const auto backend = open_device("cpu");
    CHECK(weights_of_model(*backend, folder.file("broken/model")) ==
          weights_of_model(*backend, folder.file("whole/model")));
    CHECK(weights_of_model(*backend, folder.file("whole/model")) !=
          weights_of_model(*backend, folder.file("base/model")));

    const auto reports = logged(folder.file("whole"), "train");
    REQUIRE(!reports.empty());
    CHECK(reports.front().contains("accuracy") == (key != "sft"));
    CHECK(logged(folder.file("whole"), "validation").front().contains("margin") == (key != "sft"));
    // TensorBoard has every number of the log.
    std::string events;
    for (const auto& file : std::filesystem::directory_iterator(folder.file("whole/tensorboard"))) {
        events += read_all(file.path().string());
    }
    for (const char* name : {"train/accuracy", "train/margin", "validation/accuracy", "validation/margin"}) {
        CHECK((events.find(name) != std::string::npos) == (key != "sft"));
    }
    const TrainingLog log = read_training_log(folder.file("whole/log.jsonl"));
    CHECK(log.training.front().measures.size() == (key == "sft" ? 0 : 4));
    CHECK(log.validation.front().measures.size() == (key == "sft" ? 0 : 4));
    const ModelConfig config = open_model_directory(folder.file("whole/model")).config;
    CHECK((config.output.head == OutputHead::Scalar) == (key == "reward"));
}

TEST_CASE("a reward model begins as its language model, with scores of 0", "[responses_run]") {
    const ResponsesFolder folder;
    TrainingRequest request = folder.request(Task::Reward, "out");
    const auto change = request.adjust;
    request.adjust = [change](RunConfig& config) {
        change(config);
        config.set("learning_rate_scale", 0.0);
    };
    run_job(std::move(request), {});
    const auto backend = open_device("cpu");
    std::vector<double> weights = weights_of_model(*backend, folder.file("out/model"));
    const std::vector<double> base = weights_of_model(*backend, folder.file("base/model"));
    REQUIRE(weights.size() > base.size());
    CHECK(std::equal(base.begin(), base.end(), weights.begin()));
    CHECK(std::all_of(weights.begin() + std::ssize(base), weights.end(), [](double value) { return value == 0.0; }));
    const nlohmann::json report = logged(folder.file("out"), "train").front();
    CHECK(report["loss"] == Approx(std::log(2.0)));
    CHECK(report["accuracy"] == Approx(0.5));
}

TEST_CASE("labels are on the response and its end alone, and are shown", "[responses_run]") {
    const ResponsesFolder folder;
    std::unique_ptr<Backend> backend = open_device("cpu");
    TrainingJob job(folder.request(Task::Sft, "out"), [](const std::string&) {});
    job.use(*backend);
    job.choose_config(folder.file("out"));
    job.prepare_data(folder.file("out/tokenizer"));
    const std::string shown = show_labels(job.data(), Task::Sft, 2);
    CHECK(std::count(shown.begin(), shown.end(), '\n') == 2);
    CHECK_THAT(shown, Catch::StartsWith("example 1: <s> ") && Contains(" [</s>]\n"));
    CHECK(shown.find("[<s>]") == std::string::npos);
    REQUIRE(shown.find('[') != std::string::npos);
    CHECK(shown.find('[') > shown.find("the"));
}

TEST_CASE("examples that do not fit are left out and counted, and none left is an error", "[responses_run]") {
    const ResponsesFolder folder;
    std::string lines;
    for (int i = 0; i < 25; ++i) {
        lines += fmt::format("{{\"prompt\": \"the dog {}\", \"response\": \"{}\"}}\n", i,
                             i % 5 == 0 ? std::string(200, 'a') : "barks");
    }
    const auto train = [&](std::int64_t longest, std::string& said) {
        TrainingRequest request = folder.request(Task::Sft, fmt::format("out{}", longest));
        request.texts.text = folder.write("long.jsonl", lines);
        const auto change = request.adjust;
        request.adjust = [change, longest](RunConfig& config) {
            change(config);
            config.set("max_length", longest);
        };
        run_job(std::move(request), {.say = [&](const std::string& line) { said += line + "\n"; }});
    };
    std::string said;
    train(32, said);
    CHECK_THAT(said, Contains("left out: 5 with more than \"training.max_length\" (32) tokens"));
    CHECK_THROWS_WITH(train(8, said), Contains("no example of") && Contains("\"training.max_length\" (8)"));
}

TEST_CASE("a training on responses needs a model, and preferences no dropout", "[responses_run]") {
    const ResponsesFolder folder;
    TrainingRequest alone = folder.request(Task::Sft, "out");
    alone.from.clear();
    CHECK_THROWS_WITH(run_job(std::move(alone), {}), Contains("\"sft\" goes on with a model") && Contains("--from"));
    TrainingRequest dropping = folder.request(task_named("dpo"), "dropping");
    const auto change = dropping.adjust;
    dropping.adjust = [change](RunConfig& config) {
        change(config);
        config.set("attention_dropout", 0.1);
    };
    CHECK_THROWS_WITH(run_job(std::move(dropping), {}), Contains("\"training.attention_dropout\" must be 0"));
    TrainingRequest kept = folder.request(task_named("sft"), "kept");
    kept.adjust = [change](RunConfig& config) {
        change(config);
        config.set("beta", 0.5);
    };
    CHECK_THROWS_WITH(run_job(std::move(kept), {}), Contains("\"training.beta\" (0.5)"));
}

TEST_CASE("comparisons have one way to smooth their labels", "[responses_run]") {
    const ResponsesFolder folder;
    const auto [key, value] = GENERATE(table<const char*, nlohmann::json>(
        {{"label_smoothing", 0.5}, {"smoothing_over", "other_classes"}, {"label_smoothing_towards", "unigram"}}));
    CAPTURE(key);
    TrainingRequest request = folder.request(task_named(GENERATE("reward", "dpo")), "smoothed");
    const auto change = request.adjust;
    request.adjust = [change, key = key, value = value](RunConfig& config) {
        change(config);
        config.set(key, value);
    };
    CHECK_THROWS_WITH(run_job(std::move(request), {}),
                      Contains(std::string("\"training.") + key + "\" must be") && Contains("compares two responses"));
}

TEST_CASE("no prompt is trained on and validated", "[responses_run]") {
    const TemporaryFolder folder;
    std::string lines;
    for (int i = 0; i < 100; ++i) {
        lines += fmt::format("{{\"prompt\": \"prompt {}\", \"response\": \"response {}\"}}\n", i % 30, i);
    }
    const DocumentParts parts = split_responses(folder.write("a.jsonl", lines), Task::Sft, folder.file("data"), 1);
    CHECK(parts.train + parts.valid + parts.shared == 100);
    CHECK(parts.valid == 5);
    CHECK(parts.shared >= 5);  // three lines at least have each prompt
    const std::string train = read_all(parts.train_file);
    const std::string valid = read_all(parts.valid_file);
    for (int i = 0; i < 30; ++i) {
        const std::string prompt = fmt::format("\"prompt {}\"", i);
        CHECK_FALSE((train.find(prompt) != std::string::npos && valid.find(prompt) != std::string::npos));
    }
    std::string chats;
    for (int i = 0; i < 30; ++i) {
        chats += fmt::format(
            "{{\"messages\": [{{\"role\": \"system\", \"content\": \"be kind\"}}, {{\"role\": \"user\", "
            "\"content\": \"prompt {}\"}}, {{\"role\": \"assistant\", \"content\": \"yes\"}}]}}\n",
            i);
    }
    CHECK(split_responses(folder.write("c.jsonl", chats), Task::Sft, folder.file("chats"), 1).shared == 0);
    CHECK_THROWS_WITH(split_responses(folder.write("b.jsonl", lines.substr(0, lines.find('\n') + 1)), Task::Sft,
                                      folder.file("data"), 1),
                      Contains("1 different prompt") && Contains("at least 20"));
}
