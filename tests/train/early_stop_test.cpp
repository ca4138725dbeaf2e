// Runs that end because validation does not improve.
#include <catch2/catch.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/train/digits_run.h"

using namespace headscope;
using Catch::Matchers::Contains;

namespace {

// The weights never change, so the first validation stays the best.
nlohmann::json standing_still(const TemporaryFolder& folder) {
    nlohmann::json settings = write_digits(folder);
    settings["training"]["steps"] = 100;
    settings["training"]["validate_every"] = 4;
    settings["training"]["patience"] = 3;
    settings["training"]["learning_rate_scale"] = 0.0;
    return settings;
}

}  // namespace

TEST_CASE("patience ends a run and reports the best validation", "[early_stop]") {
    const TemporaryFolder folder;
    const nlohmann::json settings = standing_still(folder);
    DigitsRun run(folder, settings, "out");
    CHECK(run.start().train() == RunEnd::Finished);
    CHECK(run.training->step() == 16);
    CHECK_THAT(run.said, Contains("stopping: 3 validations in a row were no better than the one after step 4"));
    CHECK(logged(run.output_folder, "validation").size() == 4);
    CHECK(logged(run.output_folder, "train").back()["step"] == 16);

    DigitsRun again(folder, settings, "out");
    CHECK(again.start(true).train() == RunEnd::Finished);
    CHECK(again.training->step() == 16);
}

TEST_CASE("a run that improves continues to its limit", "[early_stop]") {
    const TemporaryFolder folder;
    nlohmann::json settings = write_digits(folder);
    settings["training"]["patience"] = 1;
    DigitsRun run(folder, settings, "out");
    run.start().train();
    CHECK(run.training->step() == 24);
    CHECK_THAT(run.said, !Contains("stopping:"));
}

TEST_CASE("patience counts across a stop", "[early_stop]") {
    const TemporaryFolder folder;
    const nlohmann::json settings = standing_still(folder);
    const auto resumed = stopped_and_finished(folder, settings, "out", 13);
    const DigitsRun& second = *resumed;
    CHECK(second.training->step() == 16);
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

namespace {

// Other pairs than those of write_digits.
void write_other_valid(const TemporaryFolder& folder) {
    std::string text;
    for (const DigitsPair& pair : make_digits_task(40, 7)) {
        text += pair.words + "\t" + pair.digits + "\n";  // swapped, so that the loss differs
    }
    folder.write("valid.tsv", text);
}

TrainingState newest_state(const DigitsRun& run) {
    const CheckpointFolder folder(run.output_folder + "/checkpoints");
    const std::string file = folder.file_of(folder.steps().back());
    return parse_training_state(Checkpoint::open(file).state(), file);
}

// A run with constant weights, stopped after step 13, two validations after its best.
void stop_at_13(const TemporaryFolder& folder, const nlohmann::json& settings) {
    DigitsRun run(folder, settings, "out");
    run.hooks.stop_requested = stop_after(13);
    CHECK(run.start().train() == RunEnd::Stopped);
    CHECK(newest_state(run).validations_since_best == 2);
}

// Like a run of a version that did not record the validation text.
void forget_text(const DigitsRun& run, std::int64_t step) {
    const std::string file = CheckpointFolder(run.output_folder + "/checkpoints").file_of(step);
    const Checkpoint checkpoint = Checkpoint::open(file);
    nlohmann::json state = checkpoint.state();
    REQUIRE(state["best"].erase("text") == 1);
    const auto empty = [&] {
        return run.backend->empty({run.learner->parameters().total()}, run.backend->full_dtype());
    };
    const CheckpointTensors tensors{empty(), empty(), empty()};
    checkpoint.read(*run.backend, tensors);
    write_checkpoint(*run.backend, file, tensors, state);
}

}  // namespace

TEST_CASE("with another validation text the best model is measured again and patience starts again", "[early_stop]") {
    const TemporaryFolder folder;
    const nlohmann::json settings = standing_still(folder);
    stop_at_13(folder, settings);
    write_other_valid(folder);
    DigitsRun run(folder, settings, "out");
    run.start(true);
    CHECK_THAT(run.said, Contains("the validation text has changed: the best model, after step 4, was measured again"));
    run.training->train();
    CHECK(run.training->step() == 24);  // validations after steps 16, 20 and 24
    const TrainingState state = newest_state(run);
    REQUIRE(state.best);
    CHECK(state.best->step == 4);
    CHECK(state.best->nll == logged(run.output_folder, "validation").back()["nll"]);  // the weights are the same
    CHECK(Checkpoint::open(run.output_folder + "/best.safetensors").state()["nll"] == state.best->nll);

    DigitsRun again(folder, settings, "out");
    again.start(true);
    CHECK_THAT(again.said, !Contains("measured again"));
}

TEST_CASE("measuring the best model again does not change the weights", "[early_stop]") {
    const TemporaryFolder folder;
    nlohmann::json settings = write_digits(folder);
    settings["training"]["ema_decay"] = 0.9;
    DigitsRun unbroken(folder, settings, "unbroken");
    unbroken.start().train();
    DigitsRun first(folder, settings, "out");
    first.hooks.stop_requested = stop_after(11);
    first.start().train();
    write_other_valid(folder);
    DigitsRun second(folder, settings, "out");
    second.start(true).train();
    CHECK_THAT(second.said, Contains("was measured again"));
    CHECK(second.weights() == unbroken.weights());
}

TEST_CASE("the model is chosen with the current validation text", "[early_stop]") {
    const TemporaryFolder folder;
    const nlohmann::json settings = standing_still(folder);
    stop_at_13(folder, settings);
    write_other_valid(folder);
    DigitsRun run(folder, settings, "out");
    run.start(true, Purpose::Finish).write_model(run.output_folder + "/model");
    CHECK_THAT(run.said, Contains("was measured again") && !Contains("better than"));
}

namespace {

// Killed after the validation of step 12, which found a better model than that of step 4. Its newest checkpoint is of
// step 8.
nlohmann::json killed_after_better(const TemporaryFolder& folder) {
    nlohmann::json settings = write_digits(folder);
    settings["training"].update({{"steps", 12}, {"validate_every", 4}, {"average_last", 1}});
    DigitsRun run(folder, settings, "out");
    run.start().train();
    CHECK(Checkpoint::open(run.output_folder + "/best.safetensors").state()["step"] == 12);
    std::filesystem::remove(run.output_folder + "/checkpoints/step-00000012.safetensors");
    CHECK(newest_state(run).best->step == 8);
    return settings;
}

}  // namespace

TEST_CASE("--finish finds a best model newer than the newest checkpoint", "[early_stop]") {
    const TemporaryFolder folder;
    const nlohmann::json settings = killed_after_better(folder);
    DigitsRun run(folder, settings, "out");
    run.start(true, Purpose::Finish).write_model(run.output_folder + "/model");
    CHECK_THAT(run.said, !Contains("skipping") && Contains("the best single model, after step 12,"));
    CHECK(logged(run.output_folder, "model").back()["nll"] ==
          Checkpoint::open(run.output_folder + "/best.safetensors").state()["nll"]);
}

TEST_CASE("--finish finds a best model that no checkpoint records", "[early_stop]") {
    const TemporaryFolder folder;
    nlohmann::json settings = write_digits(folder);
    settings["training"].update({{"steps", 12}, {"validate_every", 12}, {"average_last", 1}});
    DigitsRun whole(folder, settings, "out");
    whole.start().train();
    std::filesystem::remove(folder.file("out/checkpoints/step-00000012.safetensors"));
    DigitsRun run(folder, settings, "out");
    run.start(true, Purpose::Finish).write_model(run.output_folder + "/model");
    CHECK_THAT(run.said, Contains("the best single model, after step 12,"));

    std::filesystem::remove_all(folder.file("out/checkpoints"));  // started again: the old best model belongs to no run
    settings["training"]["validate_every"] = 0;
    DigitsRun anew(folder, settings, "out");
    anew.start().train();
    CHECK_FALSE(std::filesystem::exists(folder.file("out/best.safetensors")));
}

TEST_CASE("a newer best model is measured again on another validation text", "[early_stop]") {
    const TemporaryFolder folder;
    const nlohmann::json settings = killed_after_better(folder);
    write_other_valid(folder);
    DigitsRun run(folder, settings, "out");
    run.start(true, Purpose::Finish).write_model(run.output_folder + "/model");
    CHECK_THAT(run.said, Contains("the best model, after step 12, was measured again"));
    const nlohmann::json best = Checkpoint::open(run.output_folder + "/best.safetensors").state();
    CHECK(best["step"] == 12);

    // The checkpoint records the first text, the file the second.
    write_digits(folder);
    DigitsRun back(folder, settings, "out");
    back.start(true, Purpose::Finish).write_model(back.output_folder + "/model");
    CHECK_THAT(back.said, Contains("the best model, after step 12, was measured again"));
}

TEST_CASE("a best model that cannot be measured again is dropped", "[early_stop]") {
    const TemporaryFolder folder;
    const nlohmann::json settings = standing_still(folder);
    stop_at_13(folder, settings);
    write_other_valid(folder);
    std::filesystem::remove(folder.file("out/best.safetensors"));
    DigitsRun run(folder, settings, "out");
    run.start(true);
    CHECK_THAT(run.said, Contains("the validation text has changed, and the best model, after step 4, cannot be "
                                  "measured again"));
    run.training->train();
    CHECK(run.training->step() == 28);  // the best after step 16
}

TEST_CASE("the best model of a checkpoint without a validation text is measured again", "[early_stop]") {
    const TemporaryFolder folder;
    const nlohmann::json settings = standing_still(folder);
    DigitsRun first(folder, settings, "out");
    first.hooks.stop_requested = stop_after(13);
    first.start().train();
    forget_text(first, 13);
    DigitsRun same(folder, settings, "out");
    same.start(true);
    CHECK_THAT(same.said, Contains("did not record which validation text"));
    same.training->train();
    CHECK(same.training->step() == 16);  // the text was the same: patience continues

    forget_text(same, 16);
    write_other_valid(folder);
    DigitsRun other(folder, settings, "out");
    other.start(true).train();
    CHECK(other.training->step() == 28);
}

TEST_CASE("validation text may be removed, with a warning, and come back", "[early_stop]") {
    const TemporaryFolder folder;
    const nlohmann::json settings = standing_still(folder);
    stop_at_13(folder, settings);
    nlohmann::json without = settings;
    without["data"].erase("valid");
    without["training"].update({{"patience", 0}, {"steps", 17}});
    DigitsRun blind(folder, without, "out");
    blind.start(true).train();
    CHECK_THAT(blind.said, Contains("there is no validation text any more") && Contains("after step 4"));
    CHECK(blind.training->step() == 17);
    DigitsRun back(folder, settings, "out");
    back.start(true).train();
    CHECK_THAT(back.said, !Contains("measured again"));
    CHECK(back.training->step() == 20);
}

TEST_CASE("validation text may be added to a run", "[early_stop]") {
    const TemporaryFolder folder;
    const nlohmann::json settings = standing_still(folder);
    nlohmann::json without = settings;
    without["data"].erase("valid");
    without["training"].update({{"patience", 0}, {"steps", 13}});
    DigitsRun blind(folder, without, "out");
    blind.start().train();
    DigitsRun run(folder, settings, "out");
    run.start(true).train();
    CHECK(run.training->step() == 28);  // the first validation is the best
}
