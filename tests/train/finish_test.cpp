// The end of a run, and the model that it writes.
#include <catch2/catch.hpp>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tests/ops/devices.h"
#include "tests/train/digits_run.h"
#include "train/averaging.h"
#include "train/overfit.h"

using namespace headscope;
using Catch::Matchers::Contains;

namespace {

void alter(const std::string& file) {
    std::string bytes = read_all(file);
    bytes.back() = static_cast<char>(bytes.back() ^ 1);
    std::ofstream(file, std::ios::binary) << bytes;
}

// A run of 24 steps with a checkpoint every 4 steps, which keeps three.
struct DoneRun {
    DoneRun() : settings(write_digits(folder)) {
        settings["training"]["checkpoint_every"] = 4;
        settings["training"]["average_last"] = 3;
        DigitsRun run(folder, settings, "out");
        run.start().train();
    }
    std::string file(const std::string& name) const { return folder.file("out/" + name); }
    // Returns the output of --finish. The model is in out/model.
    std::string finish() const {
        DigitsRun run(folder, settings, "out");
        run.start(true, Purpose::Finish).write_model(file("model"));
        return run.said;
    }
    TemporaryFolder folder;
    nlohmann::json settings;
};

}  // namespace

TEST_CASE("damaged checkpoints and best models are skipped when the model is written", "[finish]") {
    DoneRun run;
    CHECK_THAT(run.finish(), Contains("better than the mean of the 3 checkpoints after steps 16 to 24"));
    alter(run.file("checkpoints/step-00000020.safetensors"));
    CHECK_THAT(run.finish(), Contains("warning: skipping a checkpoint: ") && Contains("step-00000020") &&
                                 Contains("better than the mean of the 2 checkpoints after steps 16 to 24"));
    alter(run.file("best.safetensors"));
    run.settings["training"]["source_tokens"] = 256;  // another batch size does not affect the model
    std::filesystem::remove_all(run.file("model"));
    CHECK_THAT(run.finish(), Contains("warning: skipping the best single model: ") &&
                                 Contains("best.safetensors is damaged") &&
                                 Contains("out/model: the mean of the 2 checkpoints after steps 16 to 24"));
    CHECK(std::filesystem::exists(run.file("model/model.safetensors")));
}

TEST_CASE("with average_always the model is the mean, even if the best single one does better", "[finish]") {
    DoneRun run;
    CHECK_THAT(run.finish(), Contains("better than the mean of the 3 checkpoints after steps 16 to 24"));
    const std::string best = read_all(run.file("model/model.safetensors"));
    run.settings["training"]["average_always"] = true;
    CHECK_THAT(run.finish(), Contains("out/model: the mean of the 3 checkpoints after steps 16 to 24, validation nll"));
    CHECK(read_all(run.file("model/model.safetensors")) != best);
    DigitsRun trained(run.folder, run.settings, "out");
    trained.start(true, Purpose::Finish);
    std::vector<Checkpoint> files;
    for (const char* step : {"16", "20", "24"}) {
        files.push_back(Checkpoint::open(run.file(fmt::format("checkpoints/step-000000{}.safetensors", step))));
    }
    average_checkpoints(*trained.backend, files, trained.learner->parameters().flat_values());
    CHECK(weights_of_model(*trained.backend, run.file("model")) == trained.weights());
    run.settings["training"]["ema_decay"] = 0.9;
    CHECK_THAT(error_of([&] { run.finish(); }),
               Contains("with \"training.average_always\"") && Contains("\"training.ema_decay\" (0.9)"));
}

TEST_CASE("a run shorter than a report's interval still reports its steps and the model's loss", "[finish]") {
    const TemporaryFolder folder;
    nlohmann::json settings = write_digits(folder);
    settings["training"]["report_every"] = 50;
    settings["training"]["validate_every"] = 0;
    DigitsRun run(folder, settings, "out");
    run.start().train();
    run.training->write_model(run.output_folder + "/model");
    CHECK_THAT(run.said, Contains("\nstep 24  epoch "));
    const auto reports = logged(run.output_folder, "train");
    REQUIRE(reports.size() == 1);
    CHECK(reports.front()["step"] == 24);
    CHECK(reports.front()["nll"] > 2.0);
    const auto models = logged(run.output_folder, "model");
    REQUIRE(models.size() == 1);
    CHECK(models.front()["step"] == 24);
    CHECK_THAT(run.said, Contains(fmt::format("validation nll {:.4f}", models.front()["nll"].get<double>())));
    CHECK_THAT(models.front()["origin"].get<std::string>(), Contains("the mean of the 2 checkpoints"));
}

TEST_CASE("overfitting one batch can be stopped", "[finish]") {
    const TemporaryFolder folder;
    DigitsRun run(folder, write_digits(folder), "out");
    run.hooks.stop_requested = stop_after(3);
    const TrainingData data = run.prepare_data();
    CHECK_THAT(error_of([&] { overfit_one_batch(*run.backend, run.config, data, "", 20, run.hooks); }),
               Contains("stopped after step 3 of an attempt"));
}

TEST_CASE("a training removes partial files of a killed one", "[finish]") {
    const DoneRun run;
    const std::string half = run.file("checkpoints/step-00000023.safetensors.tmp");
    std::ofstream(half) << "half of one";
    CHECK_THAT(run.finish(), !Contains("step-00000023"));
    CHECK(!std::filesystem::exists(half));
}

TEST_CASE("bf16 is rejected if products are not faster with it, and a run can switch from it", "[finish][devices]") {
    const TemporaryFolder folder;
    nlohmann::json settings = write_digits(folder);
    settings["training"]["compute"] = "bf16";
    settings["training"]["steps"] = 2;
    std::vector<std::string> devices = conformance::devices_under_test();
    devices.push_back("cpu:oracle");
    int refused = 0;
    for (const std::string& id : devices) {
        DigitsRun run(folder, settings, id, id);
        const std::string problem = error_of([&] { run.start(); });
        const bool native = run.backend->products(Compute::BF16).level == SupportLevel::Native;
        INFO(id << ": " << problem);
        CHECK(problem.empty() == native);
        if (!native) {
            CHECK_THAT(problem, Contains("digits.json: \"training.compute\"") && Contains(run.backend->device().id) &&
                                    Contains("\"f32\""));
            ++refused;
            continue;
        }
        run.training->train();
        settings["training"]["compute"] = "f32";
        settings["training"]["steps"] = 3;
        DigitsRun further(folder, settings, id, id);
        CHECK(further.start(true).train() == RunEnd::Finished);
        CHECK_THAT(further.said, Contains("warning: the run began on") && Contains("(BF16 products)"));
        settings["training"]["compute"] = "bf16";
        settings["training"]["steps"] = 2;
    }
    CHECK(refused > 0);
}
