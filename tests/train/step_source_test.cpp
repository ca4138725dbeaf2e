#include "data/step_source.h"

#include <catch2/catch.hpp>
#include <numeric>
#include <utility>

#include "data/batcher.h"
#include "tests/train/digits_run.h"
#include "train/training_job.h"

using namespace headscope;
using Catch::Matchers::Contains;

namespace {

// Some examples, again and again in the same order, with weights of their own and a step's divisor.
class FixedSteps final : public StepSource {
public:
    FixedSteps(const TrainingData& data, bool weighed) {
        std::vector<std::uint32_t> numbers(40);
        std::iota(numbers.begin(), numbers.end(), 0U);
        const std::vector<Example> examples = data.train->fetch(data.train->epoch(0), numbers);
        for (std::size_t first = 0; first < examples.size(); first += 8) {
            const auto begin = examples.begin() + static_cast<std::ptrdiff_t>(first);
            TrainingStep step{{begin, begin + 8}};
            for (std::size_t i = 0; weighed && i < step.examples.size(); ++i) {
                Example& example = step.examples[i];
                example.weights.assign(example.target.size() + 1, i % 3 == 0 ? 0.0F : 0.5F * static_cast<float>(i));
            }
            step.divisor = weighed ? std::optional(30.0 + static_cast<double>(first)) : std::nullopt;
            steps_.push_back(std::move(step));
        }
    }

    TrainingStep next() override { return steps_[taken_++ % steps_.size()]; }
    nlohmann::json state() const override { return {{"taken", taken_}}; }
    void set_state(const nlohmann::json& state) override {
        if (!state.contains("taken")) {
            throw Error("no state of fixed steps: " + state.dump());
        }
        taken_ = state["taken"].get<std::size_t>();
    }
    double epochs_done() const override { return static_cast<double>(taken_) / static_cast<double>(steps_.size()); }
    std::int64_t about_steps_per_epoch() const override { return std::ssize(steps_); }

private:
    std::vector<TrainingStep> steps_;
    std::size_t taken_ = 0;
};

// A run on fixed steps. `folder` has what write_digits() writes.
struct FixedRun : DigitsRun {
    FixedRun(const TemporaryFolder& folder, const nlohmann::json& settings, const std::string& output,
             bool weighed = true)
        : DigitsRun(folder, settings, output) {
        source = [=](const TrainingData& data) { return std::make_unique<FixedSteps>(data, weighed); };
    }
};

}  // namespace

TEST_CASE("a run takes steps from any source, with their weights, and resumes bit for bit", "[step_source][resume]") {
    const TemporaryFolder folder;
    const nlohmann::json settings = write_digits(folder);
    FixedRun unbroken(folder, settings, "unbroken");
    CHECK(unbroken.start().train() == RunEnd::Finished);
    FixedRun first(folder, settings, "broken");
    first.hooks.stop_requested = stop_after(11);
    CHECK(first.start().train() == RunEnd::Stopped);
    const Checkpoint stopped = Checkpoint::open(CheckpointFolder(first.output_folder + "/checkpoints").file_of(11));
    CHECK(stopped.state().at("source") == nlohmann::json{{"taken", 11}});
    CHECK(stopped.state().at("epochs") == 11.0 / 5.0);
    FixedRun second(folder, settings, "broken");
    CHECK(second.start(true).train() == RunEnd::Finished);
    CHECK(second.weights() == unbroken.weights());
    CHECK(logged(second.output_folder, "validation") == logged(unbroken.output_folder, "validation"));
    const auto expected = logged(unbroken.output_folder, "train");
    const auto found = logged(second.output_folder, "train");
    REQUIRE(found.size() == expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
        CHECK(found[i]["loss"] == expected[i]["loss"]);  // across the stop: sums and divisors are in the checkpoint
    }

    FixedRun unweighed(folder, settings, "unweighed", false);
    unweighed.start().train();
    CHECK(unweighed.weights() != unbroken.weights());

    DigitsRun other(folder, settings, "broken");  // a batcher
    CHECK_THROWS_WITH(other.start(true), Contains("position in the data"));
}

TEST_CASE("a job trains on the steps that its request brings", "[step_source][training_job]") {
    const TemporaryFolder folder;
    const nlohmann::json settings = write_digits(folder);
    FixedRun expected(folder, settings, "expected");
    expected.start().train();
    expected.training->write_model(folder.file("expected-model"));

    TrainingRequest request{.output = folder.file("out"), .source = expected.source};
    request.config.emplace(RunConfig::with_data(settings, folder.file("")), folder.file("digits.json"));
    TrainingJob job(request, expected.hooks.say);
    const TrainingResult result =
        job.run([&]() -> Backend& { return *expected.backend; }, [](Backend&) { return RunHooks{}; });
    CHECK(result.end == RunEnd::Finished);
    CHECK(weights_of_model(*expected.backend, folder.file("out/model")) ==
          weights_of_model(*expected.backend, folder.file("expected-model")));
}

TEST_CASE("a limit in epochs counts those of the source", "[step_source]") {
    const TemporaryFolder folder;
    nlohmann::json settings = write_digits(folder);
    settings["training"]["epochs"] = 2;
    FixedRun run(folder, settings, "out");
    CHECK(run.start().train() == RunEnd::Finished);
    CHECK(run.training->step() == 10);
    CHECK_THAT(run.training->ended_by(), Contains("training.epochs"));
}
