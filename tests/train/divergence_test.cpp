// Runs whose gradients are no longer finite keep their earlier checkpoints and can continue from them.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "backend/ops/elementwise.h"
#include "tests/train/digits_run.h"

using namespace headscope;
using Catch::Matchers::Contains;

namespace {

nlohmann::json settings_for(const TemporaryFolder& folder) {
    nlohmann::json settings = write_digits(folder);
    settings["training"]["checkpoint_every"] = 1;
    settings["training"]["divergence_returns"] = 0;
    settings["training"]["validate_every"] = 0;
    return settings;
}

// A run whose weights become so large after `step` that no gradient is finite.
struct Ruined : DigitsRun {
    Ruined(const TemporaryFolder& folder, const nlohmann::json& settings, std::int64_t step)
        : DigitsRun(folder, settings, "out") {
        hooks.stop_requested = [this, step] {
            if (training->step() == step) {
                backend->run(Fill{.out = learner->parameters().flat_values(), .value = 1e30F});
            }
            return training->step() == stop_at;
        };
    }
    std::string problem() {
        start(true);
        return error_of([&] { training->train(); });
    }
    std::int64_t stop_at = -1;
};

std::vector<std::int64_t> checkpoints(const TemporaryFolder& folder) {
    return CheckpointFolder(folder.file("out/checkpoints")).steps();
}

}  // namespace

TEST_CASE("a diverged run keeps its earlier checkpoints, names the good one, and continues from there",
          "[divergence]") {
    const TemporaryFolder folder;
    nlohmann::json settings = settings_for(folder);
    const std::string problem = Ruined(folder, settings, 5).problem();
    CHECK_THAT(problem, Contains("step 15:") && Contains("last 10 steps") &&
                            Contains("cannot continue from the weights after step 5"));
    CHECK_THAT(problem, Contains("continues after step 4,"));
    CHECK(checkpoints(folder) == std::vector<std::int64_t>{3, 4, 5});  // none of the ten skipped steps
    const std::string spoilt = CheckpointFolder(folder.file("out/checkpoints")).file_of(5);
    CHECK_THAT(problem, Contains("remove " + spoilt + ","));

    std::filesystem::remove(spoilt);
    settings["training"]["learning_rate_scale"] = 0.5;
    settings["training"]["clip_norm"] = 5.0;
    DigitsRun again(folder, settings, "out");
    CHECK(again.start(true).step() == 4);
    CHECK_THAT(again.said, Contains("\"training.learning_rate_scale\" was 1.0 and is now 0.5") &&
                               Contains("\"training.clip_norm\" was 0.0 and is now 5.0"));
    CHECK(again.training->train() == RunEnd::Finished);
    CHECK_THAT(again.said, !Contains("SKIPPED"));
    CHECK(checkpoints(folder) == std::vector<std::int64_t>{22, 23, 24});
    CHECK(logged(again.output_folder, "train").back()["nll"].get<double>() < 4.3);
}

TEST_CASE("a checkpoint due while steps are skipped is written after the first good step", "[divergence]") {
    const TemporaryFolder folder;
    nlohmann::json settings = settings_for(folder);
    settings["training"]["checkpoint_every"] = 4;
    DigitsRun run(folder, settings, "out");
    std::vector<double> good;
    run.hooks.stop_requested = [&] {
        const Tensor weights = run.learner->parameters().flat_values();
        if (run.training->step() == 3) {
            good = run.weights();
            run.backend->run(Fill{.out = weights, .value = 1e30F});
        } else if (run.training->step() == 5) {
            from_host(*run.backend, weights, good);
        }
        return run.training->step() == 7;
    };
    CHECK(run.start().train() == RunEnd::Stopped);
    CHECK(checkpoints(folder) == std::vector<std::int64_t>{6, 7});  // 4 was due, 7 is where the run was stopped
}

TEST_CASE("a stop while steps are skipped does not remove earlier checkpoints", "[divergence]") {
    const TemporaryFolder folder;
    nlohmann::json settings = settings_for(folder);
    settings["training"]["keep_last"] = 2;
    Ruined run(folder, settings, 5);
    run.stop_at = 9;
    CHECK(run.start().train() == RunEnd::Stopped);
    CHECK(checkpoints(folder) == std::vector<std::int64_t>{4, 5, 9});
    CHECK_THAT(Ruined(folder, settings, 0).problem(),
               Contains("step 15:") && Contains("step-00000005.safetensors and ") &&
                   Contains("step-00000009.safetensors,") && Contains("after step 4,"));
}

TEST_CASE("a missing checkpoint from before the divergence is reported", "[divergence]") {
    const TemporaryFolder folder;
    nlohmann::json settings = settings_for(folder);
    CHECK_THAT(Ruined(folder, settings, 1).problem(),  // the one of step 1 is spoilt
               Contains("there is no earlier checkpoint") && Contains("--output"));
    CHECK(checkpoints(folder) == std::vector<std::int64_t>{1});
    std::filesystem::remove_all(folder.file("out"));
    settings["training"]["checkpoint_every"] = 1000;
    CHECK_THAT(Ruined(folder, settings, 5).problem(),
               Contains("there is no earlier checkpoint") && Contains("--output"));
    CHECK(checkpoints(folder).empty());
}
