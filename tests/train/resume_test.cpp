#include <catch2/catch.hpp>
#include <csignal>
#include <cstdlib>

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/random.h"
#include "tests/train/digits_run.h"

using namespace headscope;

namespace {

constexpr const char* kChildFolder = "HEADSCOPE_TEST_CHILD_FOLDER";

// This test program once more, running only the hidden case below on `folder`.
pid_t start_child(const std::string& folder) {
    setenv(kChildFolder, folder.c_str(), 1);
    std::string program = "/proc/self/exe";
    std::string which = "[child]";
    char* arguments[] = {program.data(), which.data(), nullptr};
    pid_t child = 0;
    REQUIRE(posix_spawn(&child, "/proc/self/exe", nullptr, nullptr, arguments, environ) == 0);
    unsetenv(kChildFolder);
    return child;
}

}  // namespace

TEST_CASE("a run that is stopped and resumed ends with the weights of an unbroken one, bit for bit", "[resume]") {
    const TemporaryFolder folder;
    const nlohmann::json settings = write_digits(folder);
    DigitsRun unbroken(folder, settings, "unbroken");
    unbroken.start().run();

    DigitsRun first(folder, settings, "broken");
    first.hooks.stop_requested = stop_after(11);  // neither a report's nor a checkpoint's step
    CHECK(first.start().run() == RunEnd::Stopped);
    CHECK(first.trainer->step() == 11);
    DigitsRun second(folder, settings, "broken");
    CHECK(second.start(true).run() == RunEnd::Finished);
    CHECK(second.weights() == unbroken.weights());

    const auto expected = logged(unbroken.output_folder, "train");
    const auto found = logged(second.output_folder, "train");
    REQUIRE(found.size() == expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
        for (const char* key : {"step", "epoch", "loss", "nll", "gradient_norm", "target_tokens"}) {
            CHECK(found[i][key] == expected[i][key]);
        }
    }
    CHECK(logged(second.output_folder, "validation") == logged(unbroken.output_folder, "validation"));
}

TEST_CASE("a damaged newest checkpoint costs only the steps since the one before", "[resume]") {
    const TemporaryFolder folder;
    const nlohmann::json settings = write_digits(folder);
    DigitsRun run(folder, settings, "out");
    run.start().run();
    const auto weights = run.weights();
    const std::string newest = CheckpointFolder(run.output_folder + "/checkpoints").file_of(24);
    std::filesystem::resize_file(newest, 1000);
    DigitsRun again(folder, settings, "out");
    CHECK(again.start(true).step() == 16);
    CHECK_THAT(again.said, Catch::Contains("step-00000024"));
    again.trainer->run();
    CHECK(again.weights() == weights);
}

TEST_CASE("checkpoints of another run are neither resumed nor overwritten", "[resume]") {
    const TemporaryFolder folder;
    nlohmann::json settings = write_digits(folder);
    DigitsRun run(folder, settings, "out");
    run.hooks.stop_requested = stop_after(2);
    run.start().run();
    DigitsRun careless(folder, settings, "out");
    CHECK_THAT(error_of([&] { careless.start(); }), Catch::Contains("--resume"));
    settings["training"]["seed"] = 2;
    DigitsRun other(folder, settings, "out");
    CHECK_THAT(error_of([&] { other.start(true); }), Catch::Contains("\"training.seed\" was 1 and is now 2"));
}

TEST_CASE("a process that trains until it is killed", "[.child]") {
    const char* path = std::getenv(kChildFolder);
    REQUIRE(path != nullptr);
    const std::string folder = path;
    TrainConfig config = read_train_config(folder + "/digits.json", "");
    const auto backend = open_device("cpu");
    const TrainerHooks hooks;
    TrainingData data = prepare_training_data(config, folder + "/out/tokenizer", true, hooks.say);
    Trainer trainer(*backend, config, std::move(data), folder + "/out", hooks);
    trainer.resume();
    trainer.run();
}

TEST_CASE("kill -9 at random moments changes no bit of the result", "[resume]") {
    const TemporaryFolder folder;
    nlohmann::json settings = write_digits(folder);
    settings["training"]["steps"] = 150;
    settings["training"]["checkpoint_every"] = 3;  // so that many kills meet a checkpoint half-written
    settings["training"]["validate_every"] = 0;
    folder.write("digits.json", settings.dump());
    DigitsRun unbroken(folder, settings, "unbroken");
    unbroken.start().run();

    Random random(static_cast<std::uint64_t>(getpid()));
    int kills = 0;
    for (int attempt = 0; attempt < 200; ++attempt) {
        const pid_t child = start_child(folder.file(""));
        // Mostly mid-training; the first ones also hit the reading of the data. Later ones get more time, to end.
        usleep(static_cast<useconds_t>(50'000 + random.below(400'000) + 20'000U * static_cast<unsigned>(attempt)));
        kill(child, SIGKILL);
        int status = 0;
        REQUIRE(waitpid(child, &status, 0) == child);
        if (WIFEXITED(status)) {
            REQUIRE(WEXITSTATUS(status) == 0);
            break;
        }
        ++kills;
    }
    INFO(kills << " kills");
    CHECK(kills >= 3);
    DigitsRun result(folder, settings, "out");
    CHECK(result.start(true).step() == 150);
    CHECK(result.weights() == unbroken.weights());
}
