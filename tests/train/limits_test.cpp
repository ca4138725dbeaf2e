// The length of a training in steps, epochs, tokens or minutes, and what depends on it.
#include "train/limits.h"

#include <cmath>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/train/digits_run.h"

using namespace headscope;
using Catch::Matchers::Contains;

namespace {

// A minute passes before each step.
struct TimedRun : DigitsRun {
    TimedRun(const TemporaryFolder& folder, const nlohmann::json& settings, const std::string& output)
        : DigitsRun(folder, settings, output) {
        hooks.clock = [this] { return seconds; };
        hooks.stop_requested = [this] {
            seconds += 60.0;
            return training->step() == stop_at;
        };
    }
    double seconds = 1e6;
    std::int64_t stop_at = -1;
};

nlohmann::json timed(const TemporaryFolder& folder) {
    nlohmann::json settings = write_digits(folder);
    nlohmann::json& training = settings["training"];
    training["steps"] = 0;
    training["minutes"] = 10;
    training["checkpoint_every"] = 0;
    training["checkpoint_minutes"] = 4;
    training["validate_every"] = 0;
    training["report_every"] = 1;
    training["warmup_steps"] = 1;
    return settings;
}

std::vector<double> rates(const std::string& output) {
    std::vector<double> found;
    for (const nlohmann::json& line : logged(output, "train")) {
        found.push_back(line["learning_rate"]);
    }
    return found;
}

}  // namespace

TEST_CASE("the first limit reached ends a training", "[limits]") {
    const RunLimits limits{.steps = 100, .epochs = 2.0, .tokens = 5000, .minutes = 30.0};
    CHECK(!limits.reached({.steps = 99, .epochs = 1.9, .tokens = 4999, .minutes = 29.0}));
    CHECK(limits.reached({.steps = 100}));
    CHECK(limits.reached({.epochs = 2.0}));
    CHECK(limits.reached({.tokens = 5000}));
    CHECK(limits.reached({.minutes = 30.0}));
    CHECK(limits.reached_by({.steps = 99}).empty());
    CHECK(limits.reached_by({.steps = 100, .tokens = 5000}) == "\"training.steps\" (100)");
    CHECK(limits.reached_by({.epochs = 2.5}) == "\"training.epochs\" (2)");
    CHECK(RunLimits{.tokens = 1'000'000'000'000}.reached_by({.tokens = 1'000'000'000'000}) ==
          "\"training.tokens\" (1000000000000)");
    CHECK(RunLimits{.minutes = 0.05}.reached_by({.minutes = 1.0}) == "\"training.minutes\" (0.05)");
    CHECK(limits.share({.steps = 50, .epochs = 0.5, .tokens = 4000, .minutes = 3.0}) == 0.8);
    CHECK(limits.share({.steps = 200}) == 1.0);
    CHECK(!RunLimits{}.reached({.steps = 1'000'000}));
    CHECK(RunLimits{}.share({.steps = 5}) == 0.0);
    CHECK(!RunLimits{}.any());
    CHECK(RunLimits{.tokens = 1}.any());
}

TEST_CASE("the remaining time is estimated from the pace so far", "[limits]") {
    CHECK(RunLimits{.steps = 100}.minutes_left({.steps = 25, .minutes = 5.0}) == Approx(15.0));
    CHECK(RunLimits{.tokens = 300}.minutes_left({.tokens = 100, .minutes = 5.0}) == Approx(10.0));
    CHECK(RunLimits{.minutes = 8.0}.minutes_left({.minutes = 5.0}) == Approx(3.0));
    CHECK(RunLimits{.minutes = 8.0}.minutes_left({}) == 8.0);
    CHECK(RunLimits{.steps = 100, .minutes = 8.0}.minutes_left({.steps = 50, .minutes = 5.0}) == Approx(3.0));
    CHECK(RunLimits{.steps = 100}.minutes_left({}) < 0.0);
    CHECK(RunLimits{.steps = 10}.minutes_left({.steps = 12, .minutes = 1.0}) == 0.0);
}

TEST_CASE("a limit of tokens ends a training with the step that reaches it, also across a stop", "[limits]") {
    const TemporaryFolder folder;
    nlohmann::json settings = write_digits(folder);
    settings["training"]["steps"] = 0;
    settings["training"]["tokens"] = 9000;
    settings["training"]["cooldown"] = 0.5;
    settings["training"]["report_every"] = 1;
    DigitsRun unbroken(folder, settings, "unbroken");
    CHECK(unbroken.start().train() == RunEnd::Finished);
    std::int64_t before = 0, tokens = 0;
    for (const nlohmann::json& line : logged(unbroken.output_folder, "train")) {
        before = tokens;
        tokens += line["target_tokens"].get<std::int64_t>();
    }
    CHECK(before < 9000);
    CHECK(tokens >= 9000);

    const auto resumed = stopped_and_finished(folder, settings, "broken", 7);
    const DigitsRun& second = *resumed;
    CHECK(second.weights() == unbroken.weights());
    CHECK(rates(second.output_folder) == rates(unbroken.output_folder));

    settings["training"]["tokens"] = 20000;
    DigitsRun other(folder, settings, "broken");
    CHECK_THAT(error_of([&] { other.start(true); }),
               Contains("the length of the training was 9000 tokens and is now 20000 tokens") &&
                   Contains("it did over the last 0.5 of 9000 tokens and would now over the last 0.5 of 20000 tokens"));
}

TEST_CASE("a cool-down over a share of the epochs lasts to the last step", "[limits]") {
    const TemporaryFolder folder;
    nlohmann::json settings = write_digits(folder);
    settings["training"]["steps"] = 0;
    settings["training"]["epochs"] = 1;
    settings["training"]["warmup_steps"] = 1;
    settings["training"]["cooldown"] = 0.5;
    settings["training"]["report_every"] = 1;
    settings["training"]["validate_every"] = 0;
    DigitsRun run(folder, settings, "out");
    run.start().train();
    const std::vector<double> found = rates(run.output_folder);
    REQUIRE(found.size() >= 8);
    const Schedule plain{.d_model = 32, .warmup_steps = 1};
    CHECK(found[2] == Approx(plain(3)));
    CHECK(found.back() > 0.0);
    CHECK(found.back() < 0.4 * plain(std::ssize(found)));
}

TEST_CASE("a training by minutes cools down, checkpoints and averages by the clock", "[limits]") {
    const TemporaryFolder folder;
    nlohmann::json settings = timed(folder);
    settings["training"]["cooldown"] = 0.5;
    TimedRun run(folder, settings, "out");
    CHECK(run.start().train() == RunEnd::Finished);
    CHECK(run.training->step() == 10);
    CHECK(CheckpointFolder(run.output_folder + "/checkpoints").steps() == std::vector<std::int64_t>{4, 8, 10});
    run.training->write_model(run.output_folder + "/model");
    CHECK_THAT(run.said, Contains("the mean of the 2 checkpoints after steps 8 to 10"));
    const std::vector<double> found = rates(run.output_folder);
    const Schedule plain{.d_model = 32, .warmup_steps = 1};
    REQUIRE(found.size() == 10);
    CHECK(found[4] == Approx(plain(5)));  // a minute passes before each step, so 5 of 10 have passed
    CHECK(found[7] == Approx(0.4 * plain(8)));
}

TEST_CASE("time adds up across a stop, and a clock that is set back counts as no time", "[limits]") {
    const TemporaryFolder folder;
    const nlohmann::json settings = timed(folder);
    TimedRun first(folder, settings, "out");
    first.stop_at = 6;
    CHECK(first.start().train() == RunEnd::Stopped);
    TimedRun second(folder, settings, "out");
    second.seconds = 17.0;  // after a reboot
    second.start(true);
    CHECK(second.training->train() == RunEnd::Finished);
    CHECK(second.training->step() == 9);  // asking for a stop took a minute, too

    TimedRun jumping(folder, settings, "jumping");
    jumping.hooks.stop_requested = [&jumping] {
        jumping.seconds += jumping.training->step() == 3 ? -500'000.0 : 60.0;
        return jumping.training->step() == 8;
    };
    CHECK(jumping.start().train() == RunEnd::Stopped);
    CHECK_THAT(jumping.said, !Contains("left -"));
    for (const nlohmann::json& line : logged(jumping.output_folder, "train")) {
        CHECK(line["tokens_per_second"].get<double>() >= 0.0);
    }
}

TEST_CASE("the number of steps is estimated from the limits", "[limits]") {
    constexpr double kEpoch = 20.0;  // steps
    constexpr double kStep = 500.0;  // tokens
    CHECK(RunLimits{.steps = 70}.about_steps(kEpoch, kStep).steps == 70.0);
    CHECK(RunLimits{.steps = 70, .epochs = 1.5}.about_steps(kEpoch, kStep).steps == 30.0);
    CHECK(RunLimits{.epochs = 1.5, .tokens = 10'000, .minutes = 1.0}.about_steps(kEpoch, kStep).steps == 20.0);
    CHECK(std::isinf(RunLimits{.minutes = 1.0}.about_steps(kEpoch, kStep).steps));
}
