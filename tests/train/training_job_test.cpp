#include "train/training_job.h"

#include <catch2/catch.hpp>

#include "support/check.h"
#include "tests/train/digits_run.h"

using namespace headscope;
using Catch::Matchers::Contains;

namespace {

TrainingRequest digits_request(const TemporaryFolder& folder, const nlohmann::json& settings,
                               const std::string& output) {
    TrainingRequest request{.output = folder.file(output)};
    request.config.emplace(RunConfig::with_data(settings, folder.file("")), folder.file("digits.json"));
    return request;
}

TrainingResult run(TrainingRequest request, const RunHooks& hooks) {
    std::unique_ptr<Backend> backend;
    TrainingJob job(std::move(request), hooks.say);
    return job.run(
        [&]() -> Backend& {
            backend = open_device("cpu");
            return *backend;
        },
        [&](Backend&) { return hooks; });
}

}  // namespace

TEST_CASE("a job is what a training in a folder is, also when it is stopped and continued", "[training_job]") {
    const TemporaryFolder folder;
    const nlohmann::json settings = write_digits(folder);
    DigitsRun expected(folder, settings, "expected");
    expected.start().train();
    expected.training->write_model(folder.file("expected-model"));

    CHECK(run(digits_request(folder, settings, "out"), {.stop_requested = stop_after(11)}).end == RunEnd::Stopped);
    CHECK_THROWS_WITH(run(digits_request(folder, settings, "out"), {}), Contains("checkpoints"));
    TrainingRequest more = digits_request(folder, settings, "out");
    more.resume = true;
    const TrainingResult result = run(more, {});
    CHECK(result.end == RunEnd::Finished);
    CHECK(result.step == 24);
    CHECK(result.ended_by == "\"training.steps\" (24)");
    const auto backend = open_device("cpu");
    const std::vector<double> weights = weights_of_model(*backend, folder.file("out/model"));
    CHECK(weights == weights_of_model(*backend, folder.file("expected-model")));

    std::filesystem::remove_all(folder.file("out/model"));
    more.purpose = Purpose::Finish;
    CHECK(run(more, {}).step == 24);
    CHECK(weights_of_model(*backend, folder.file("out/model")) == weights);
}

TEST_CASE("a job applies its caller's changes, and asks for checkpoints where it needs them", "[training_job]") {
    const TemporaryFolder folder;
    TrainingRequest request = digits_request(folder, write_digits(folder), "out");
    request.adjust = [](RunConfig& config) { config.set_by("--steps", "training.steps", 3); };
    std::string said;
    request.resume = true;
    const TrainingResult result = run(request, {.say = [&](const std::string& line) { said += line + "\n"; }});
    CHECK(result.step == 3);
    CHECK(result.ended_by == "\"training.steps\" (--steps: 3)");
    CHECK_THAT(said, Contains("holds no checkpoint yet: starting from the beginning"));
    request.output = folder.file("empty");
    request.purpose = Purpose::Finish;
    CHECK_THROWS_WITH(run(request, {}), Contains("holds no checkpoint to make a model from"));
    request.texts.text = folder.file("train.tsv");
    CHECK_THROWS_AS(run(request, {}), CheckFailure);  // a configuration, too
}
