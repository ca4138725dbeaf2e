// Runs that diverge, return to a good checkpoint and try again at a lower learning rate.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "backend/ops/elementwise.h"
#include "tests/train/digits_run.h"

using namespace headscope;
using Catch::Matchers::Contains;

namespace {

nlohmann::json settings_for(const TemporaryFolder& folder) {
    nlohmann::json settings = write_digits(folder);
    settings["training"]["checkpoint_every"] = 2;
    settings["training"]["report_every"] = 1;
    settings["training"]["validate_every"] = 0;
    return settings;
}

// A run whose weights are destroyed once, after a step.
struct RuinedOnce : DigitsRun {
    RuinedOnce(const TemporaryFolder& folder, const nlohmann::json& settings, std::int64_t after)
        : DigitsRun(folder, settings, "out") {
        hooks.stop_requested = [this, after, done = false]() mutable {
            if (training->step() == after && !done) {
                backend->run(Fill{.out = learner->parameters().flat_values(), .value = 1e30F});
                done = true;
            }
            return false;
        };
    }
};

// The loss rises from time to time, since the rate is far too high, and counts as diverged at once.
nlohmann::json unruly(const TemporaryFolder& folder) {
    nlohmann::json settings = settings_for(folder);
    settings["training"].update({{"steps", 80},
                                 {"checkpoint_every", 5},
                                 {"warmup_steps", 60},
                                 {"learning_rate_scale", 200.0},
                                 {"divergence_nll", 0.05},
                                 {"divergence_steps", 3},
                                 {"divergence_returns", 20}});
    return settings;
}

std::vector<std::int64_t> checkpoints(const DigitsRun& run) {
    return CheckpointFolder(run.output_folder + "/checkpoints").steps();
}

}  // namespace

TEST_CASE("a run whose gradients are no longer finite returns and continues at a lower rate", "[return]") {
    const TemporaryFolder folder;
    RuinedOnce run(folder, settings_for(folder), 7);
    CHECK(run.start().train() == RunEnd::Finished);
    CHECK(run.training->step() == 24);
    CHECK_THAT(run.said,
               Contains("step 17: the gradients of the last 10 steps were not finite") &&
                   Contains("returning to the checkpoint after step 6, with the learning rate scaled by 0.5 from") &&
                   Contains("(return 1 of at most 3)"));
    CHECK(checkpoints(run) == std::vector<std::int64_t>{20, 22, 24});
    const auto returns = logged(run.output_folder, "return");
    REQUIRE(returns.size() == 1);
    CHECK(returns.front()["step"] == 6);
    CHECK(returns.front()["from"] == 17);
    CHECK(returns.front()["rate_factor"] == 0.5);
    const auto reports = logged(run.output_folder, "train");
    REQUIRE(reports.size() == 24);  // each step after 6 only once
    const Schedule schedule{.d_model = 32, .warmup_steps = 40};
    CHECK(reports[5]["learning_rate"] == Approx(schedule(6)));
    CHECK(reports[6]["step"] == 7);
    CHECK(reports[6]["learning_rate"] == Approx(0.5 * schedule(7)));
    CHECK(reports.back()["nll"].get<double>() < 4.3);
}

TEST_CASE("without an earlier checkpoint a run returns to its beginning", "[return]") {
    const TemporaryFolder folder;
    nlohmann::json settings = settings_for(folder);
    settings["training"]["checkpoint_every"] = 20;
    RuinedOnce run(folder, settings, 3);
    CHECK(run.start().train() == RunEnd::Finished);
    CHECK_THAT(run.said, Contains("returning to the beginning"));

    settings["training"]["learning_rate_scale"] = 0.5;  // the same rate
    DigitsRun slower(folder, settings, "slower");
    slower.start().train();
    CHECK(run.weights() == slower.weights());
}

TEST_CASE("a run ends when its returns are used up", "[return]") {
    const TemporaryFolder folder;
    nlohmann::json settings = settings_for(folder);
    settings["training"]["divergence_returns"] = 2;
    DigitsRun run(folder, settings, "out");
    run.hooks.stop_requested = [&run] {
        if (run.training->step() == 7) {
            run.backend->run(Fill{.out = run.learner->parameters().flat_values(), .value = 1e30F});
        }
        return false;
    };
    run.start();
    CHECK_THAT(error_of([&] { run.training->train(); }),
               Contains("step 17: ") && Contains("2 returns at a lower rate did not help") &&
                   Contains("--resume continues after step 6") && Contains("HEADSCOPE_SCAN_NAN"));
    CHECK(logged(run.output_folder, "return").size() == 2);
}

TEST_CASE("a run returns when its loss rises far above its lowest; stops and kills in between change nothing",
          "[return][resume]") {
    const TemporaryFolder folder;
    const nlohmann::json settings = unruly(folder);
    DigitsRun unbroken(folder, settings, "unbroken");
    CHECK(unbroken.start().train() == RunEnd::Finished);
    const auto returns = logged(unbroken.output_folder, "return");
    REQUIRE(returns.size() >= 2);
    CHECK_THAT(unbroken.said, Contains("the mean nll was more than 0.05 above its lowest"));
    for (std::size_t i = 0; i < returns.size(); ++i) {
        CHECK(returns[i]["returns"] == i + 1);
        CHECK(returns[i]["step"].get<int>() % 5 == 0);
    }

    int stops = 0;
    RunEnd end = RunEnd::Stopped;
    for (int steps = 3; end == RunEnd::Stopped; steps = 3 + (steps + 5) % 11, ++stops) {
        DigitsRun part(folder, settings, "broken");
        part.hooks.stop_requested = stop_after(steps);
        end = part.start(stops > 0).train();
        if (end == RunEnd::Finished) {
            CHECK(part.weights() == unbroken.weights());
            CHECK(logged(part.output_folder, "return") == returns);
            CHECK(checkpoints(part) == checkpoints(unbroken));
        }
        REQUIRE(stops < 100);
    }
    CHECK(stops > 8);
}

TEST_CASE("a run does not return to a damaged checkpoint", "[return]") {
    const TemporaryFolder folder;
    const std::string newest = CheckpointFolder(folder.file("out/checkpoints")).file_of(6);
    DigitsRun damaged(folder, settings_for(folder), "out");
    damaged.hooks.stop_requested = [&, done = false]() mutable {
        if (damaged.training->step() == 7 && !done) {
            damaged.backend->run(Fill{.out = damaged.learner->parameters().flat_values(), .value = 1e30F});
            std::filesystem::resize_file(newest, 1000);
            done = true;
        }
        return false;
    };
    CHECK(damaged.start().train() == RunEnd::Finished);
    CHECK_THAT(damaged.said, Contains("warning: skipping a checkpoint: ") && Contains("step-00000006") &&
                                 Contains("returning to the checkpoint after step 4,"));
}

TEST_CASE("stops change neither the checkpoints that are due nor the model made from them", "[return][resume]") {
    const TemporaryFolder folder;
    nlohmann::json settings = write_digits(folder);
    settings["training"]["average_last"] = 3;
    settings["data"].erase("valid");
    DigitsRun unbroken(folder, settings, "unbroken");
    unbroken.start().train();
    unbroken.training->write_model(unbroken.output_folder + "/model");
    DigitsRun first(folder, settings, "broken");
    first.hooks.stop_requested = stop_after(11);
    first.start().train();
    CHECK(checkpoints(first) == std::vector<std::int64_t>{8, 11});
    DigitsRun second(folder, settings, "broken");
    second.start(true).train();
    second.training->write_model(second.output_folder + "/model");
    CHECK(checkpoints(second) == std::vector<std::int64_t>{8, 16, 24});
    CHECK(second.weights() == unbroken.weights());
}

TEST_CASE("returning to before a change of the validation text resets patience", "[return]") {
    const TemporaryFolder folder;
    nlohmann::json settings = settings_for(folder);
    settings["training"].update({{"checkpoint_every", 4},
                                 {"validate_every", 4},
                                 {"patience", 3},
                                 {"steps", 100},
                                 {"learning_rate_scale", 0.0}});
    DigitsRun first(folder, settings, "out");
    first.hooks.stop_requested = stop_after(13);  // two validations after the best
    first.start().train();
    folder.write("valid.tsv", "12\teins zwei\n");
    RuinedOnce run(folder, settings, 13);
    run.start(true).train();
    CHECK_THAT(run.said, Contains("was measured again") && Contains("returning to the checkpoint after step 12"));
    CHECK(run.training->step() == 24);  // validations after steps 16, 20 and 24
}
