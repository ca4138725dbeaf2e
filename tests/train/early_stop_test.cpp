// Runs that end because validation gets no better.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/train/digits_run.h"

using namespace headscope;
using Catch::Matchers::Contains;

namespace {

// Whose weights never move: the first validation stays the best.
nlohmann::json standing_still(const TemporaryFolder& folder) {
    nlohmann::json settings = write_digits(folder);
    settings["training"]["steps"] = 100;
    settings["training"]["validate_every"] = 4;
    settings["training"]["patience"] = 3;
    settings["training"]["learning_rate_scale"] = 0.0;
    return settings;
}

}  // namespace

TEST_CASE("a run ends after so many validations that were no better, and says which was the best", "[early_stop]") {
    const TemporaryFolder folder;
    const nlohmann::json settings = standing_still(folder);
    DigitsRun run(folder, settings, "out");
    CHECK(run.start().run() == RunEnd::Finished);
    CHECK(run.trainer->step() == 16);
    CHECK_THAT(run.said, Contains("3 validations in a row were no better than that after step 4: enough"));
    CHECK(logged(run.output_folder, "validation").size() == 4);
    CHECK(logged(run.output_folder, "train").back()["step"] == 16);

    DigitsRun again(folder, settings, "out");
    CHECK(again.start(true).run() == RunEnd::Finished);
    CHECK(again.trainer->step() == 16);
}

TEST_CASE("a run that improves goes on to its limit", "[early_stop]") {
    const TemporaryFolder folder;
    nlohmann::json settings = write_digits(folder);
    settings["training"]["patience"] = 1;
    DigitsRun run(folder, settings, "out");
    run.start().run();
    CHECK(run.trainer->step() == 24);
    CHECK_THAT(run.said, !Contains("enough"));
}

TEST_CASE("patience is counted over a stop", "[early_stop]") {
    const TemporaryFolder folder;
    const nlohmann::json settings = standing_still(folder);
    const auto resumed = stopped_and_finished(folder, settings, "out", 13);
    const DigitsRun& second = *resumed;
    CHECK(second.trainer->step() == 16);
}

TEST_CASE("patience needs validations", "[early_stop]") {
    const TemporaryFolder folder;
    nlohmann::json settings = standing_still(folder);
    settings["training"]["validate_every"] = 0;
    CHECK_THAT(error_of([&] { DigitsRun(folder, settings, "out"); }),
               Contains("\"training.patience\" (3)") && Contains("validate_every"));
    settings = standing_still(folder);
    settings["data"].erase("valid");
    DigitsRun run(folder, settings, "out");
    CHECK_THAT(error_of([&] { run.start(); }), Contains("\"training.patience\"") && Contains("\"data.valid\""));
}
