// Training on the score of translations that the model samples.
#include "train/sampled_translations.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "support/check.h"
#include "tests/train/digits_run.h"
#include "train/first_model.h"
#include "train/step_options.h"
#include "train/training_job.h"

using namespace headscope;
using Catch::Matchers::Contains;
using nlohmann::json;

namespace {

// Of a model that has `base` as its first weights.
json risk_settings(const TemporaryFolder& folder, const json& risk = json::object()) {
    json settings = write_digits(folder);
    settings["task"] = "risk";
    settings["risk"] = risk;
    settings["training"].update({{"source_tokens", 1024},
                                 {"steps", 12},
                                 {"max_length", 40},
                                 {"warmup_steps", 4},
                                 {"learning_rate_scale", 0.02},
                                 {"label_smoothing", 0.0},
                                 {"residual_dropout", 0.0},
                                 {"embedding_dropout", 0.0},
                                 {"attention_dropout", 0.0},
                                 {"activation_dropout", 0.0},
                                 {"average_always", true}});
    return settings;
}

using Score = SampledTranslations::Score;

// A run whose steps are those of samples, scored by a rule or as the configuration says.
struct RiskRun : DigitsRun {
    RiskRun(const TemporaryFolder& folder, const json& settings, const std::string& output, Score score = {})
        : DigitsRun(folder, settings, output) {
        source = [this, score = std::move(score)](const TrainingData& data) {
            auto made = std::make_unique<SampledTranslations>(*learner, config, data, score);
            steps = made.get();
            return made;
        };
    }

    SampledTranslations* steps = nullptr;  // of the training
};

}  // namespace

TEST_CASE("samples are weighed by how much better they are than the others of their source", "[risk]") {
    const TemporaryFolder folder;
    const double likelihood = GENERATE(0.0, 0.25);
    // 0, 10 and 20 of each source.
    int calls = 0;
    RiskRun run(folder, risk_settings(folder, {{"samples", 3}, {"likelihood", likelihood}}), "out",
                [&](const std::string&, const std::string&) { return 10.0 * (calls++ % 3); });
    run.start();
    const TrainingStep step = run.steps->next();
    const std::size_t texts = likelihood > 0.0 ? 4 : 3;
    REQUIRE(step.examples.size() % texts == 0);
    REQUIRE(calls == static_cast<int>(step.examples.size() / texts) * 3);
    double tokens = 0.0;
    bool any_cut = false;
    for (std::size_t i = 0; i < step.examples.size(); i += texts) {
        // Less the mean of the other two, over 3 samples and from 0 to 1: (0 - 15) / 300, (10 - 10) / 300, (20 - 5) /
        // 300.
        const std::vector<float> expected{-0.05F, 0.0F, 0.05F};
        for (std::size_t j = 0; j < 3; ++j) {
            const Example& sample = step.examples[i + j];
            CHECK(sample.source == step.examples[i].source);
            REQUIRE(sample.weights.size() == sample.target.size() + 1);
            for (std::size_t t = 0; t < sample.target.size(); ++t) {
                CHECK(sample.weights[t] == Approx(expected[j]));
                CHECK(sample.target[t] > 3);  // no padding, start, end or unknown piece
            }
            const bool cut = sample.weights.back() == 0.0F && expected[j] != 0.0F;
            CHECK((cut || sample.weights.back() == Approx(expected[j])));
            CHECK((!cut || std::ssize(sample.target) == std::min<std::ptrdiff_t>(std::ssize(sample.source) + 51, 39)));
            any_cut = any_cut || cut;
        }
        if (likelihood > 0.0) {
            const Example& reference = step.examples[i + 3];
            CHECK(reference.weights == std::vector<float>(reference.target.size() + 1, 0.25F));
            tokens += static_cast<double>(reference.weights.size());
        }
    }
    CHECK((likelihood == 0.0 || step.divisor == tokens));  // of the references
    CHECK(any_cut);                                        // of a model that has learned nothing
    CHECK(run.steps->measures().at("reward") == Approx(10.0));
    CHECK(run.steps->measures().at("cut") > 0.0);
    CHECK(run.steps->measures().at("distinct") > 0.9);
}

TEST_CASE("a step has room for all texts of its pairs", "[risk]") {
    const TemporaryFolder folder;
    RiskRun run(folder, risk_settings(folder, {{"samples", 4}, {"likelihood", 1.0}}), "out");
    run.start();
    for (int i = 0; i < 5; ++i) {
        const TrainingStep step = run.steps->next();
        std::size_t longest = 0;
        for (const Example& example : step.examples) {
            longest = std::max(longest, example.source.size() + 1);
        }
        CHECK(step.examples.size() * longest <= 1024);
    }
}

TEST_CASE("a model learns to earn its score", "[risk]") {
    const TemporaryFolder folder;
    json settings = risk_settings(folder, {{"samples", 4}, {"likelihood", 0.0}});
    settings["training"].update({{"steps", 60}, {"learning_rate_scale", 0.1}, {"report_every", 1}});
    // The share of one word among the words.
    const auto share = [](const std::string& translation, const std::string&) {
        double words = 0.0;
        double right = 0.0;
        for (std::size_t at = 0; at != std::string::npos && at < translation.size();) {
            const std::size_t end = translation.find(' ', at);
            right += translation.substr(at, end - at) == "drei" ? 1.0 : 0.0;
            words += 1.0;
            at = end == std::string::npos ? end : end + 1;
        }
        return words == 0.0 ? 0.0 : 100.0 * right / words;
    };
    json base = write_digits(folder);
    base["training"].update({{"steps", 120}, {"learning_rate_scale", 2.0}, {"validate_every", 0}});
    DigitsRun first(folder, base, "base");
    first.start().train();
    first.training->write_model(first.output_folder + "/model");

    RiskRun run(folder, settings, "out", share);
    run.start().begin_from(first.output_folder + "/model");
    run.training->train();
    const std::vector<json> log = logged(run.output_folder, "train");
    const auto mean = [&](std::size_t begin, std::size_t count) {
        double sum = 0.0;
        for (std::size_t i = begin; i < begin + count; ++i) {
            sum += log[i].at("reward").get<double>();
        }
        return sum / static_cast<double>(count);
    };
    INFO(mean(0, 10) << " then " << mean(50, 10));
    CHECK(mean(50, 10) > mean(0, 10) + 10.0);
    CHECK(log.back().at("distinct").get<double>() > 0.0);
}

TEST_CASE("a training on scores goes on with the same bits", "[risk]") {
    const TemporaryFolder folder;
    const json settings = risk_settings(folder, {{"samples", 2}, {"score", "chrf"}});
    RiskRun whole(folder, settings, "whole");
    whole.start().train();
    RiskRun first(folder, settings, "parts");
    first.hooks.stop_requested = stop_after(5);
    CHECK(first.start().train() == RunEnd::Stopped);
    RiskRun second(folder, settings, "parts");
    CHECK(second.start(true).train() == RunEnd::Finished);
    CHECK(second.weights() == whole.weights());
    // Another number of samples is another training.
    RiskRun other(folder, risk_settings(folder, {{"samples", 3}, {"score", "chrf"}}), "parts");
    CHECK_THROWS_WITH(other.start(true), Contains("\"risk.samples\" was 2 and is now 3"));
}

TEST_CASE("what does not suit a training on scores is named", "[risk]") {
    const TemporaryFolder folder;
    const auto complaint = [&](const char* where, const json& value) {
        json settings = risk_settings(folder);
        settings[json::json_pointer(where)] = value;
        return error_of([&] { check_train_config(parse_train_config(settings, "c.json", "")); });
    };
    CHECK(complaint("/risk/samples", 4).empty());
    CHECK_THAT(complaint("/risk/samples", 1), Contains("\"risk.samples\""));
    CHECK_THAT(complaint("/risk/score", "ter"), Contains("\"risk.score\"") && Contains("\"chrf\""));
    CHECK_THAT(complaint("/risk/sample", 3), Contains("\"risk.sample\"") && Contains("did you mean \"samples\"?"));
    CHECK_THAT(complaint("/training/residual_dropout", 0.1),
               Contains("\"training.residual_dropout\" must be 0 for the \"task\" \"risk\", which samples without it"));
    CHECK_THAT(complaint("/training/label_smoothing", 0.1), Contains("\"training.label_smoothing\" must be 0"));
    CHECK_THAT(complaint("/model/output.temperature", 0.9), Contains("\"model.output.temperature\" must be left out"));
    CHECK_THAT(complaint("/training/patience", 3), Contains("\"training.patience\" (3) must be 0"));
    CHECK_THAT(complaint("/training/average_always", false), Contains("\"training.average_always\" must be true"));
    CHECK_THAT(complaint("/training/source_tokens", 200),
               Contains("(200) must have room for the 6 texts of a pair, 240 tokens"));
    CHECK_THAT(complaint("/model/architecture", "causal-lm"), Contains("must be \"encoder-decoder\""));
    json without = write_digits(folder);
    without["risk"] = json::object();
    CHECK_THAT(error_of([&] { parse_train_config(without, "c.json", ""); }), Contains("\"risk\" is unknown"));

    TrainingRequest request;
    request.config.emplace(risk_settings(folder), folder.file("digits.json"));
    request.output = folder.file("none");
    const std::unique_ptr<Backend> cpu = open_device("cpu");
    TrainingJob job(std::move(request), [](const std::string&) {});
    CHECK_THAT(error_of([&] { job.use(*cpu); }),
               Contains("the \"task\" \"risk\" goes on with a model: name it with --from"));
}
