#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "support/random.h"
#include "tests/house/open_options.h"
#include "tests/ops/devices.h"
#include "tests/train/digits_run.h"
#include "train/run_folder.h"

using namespace headscope;

namespace {

// Devices and precisions for resumed runs. Each has its own products and sums, and each must repeat bit for bit.
struct Setting {
    std::string device;
    std::string compute;
};

std::vector<Setting> settings_under_test() {
    std::vector<Setting> found;
    for (const std::string& device : conformance::devices_under_test()) {
        found.push_back({device, "f32"});
        if (open_device(device, environment_options())->products(Compute::BF16).level == SupportLevel::Native) {
            found.push_back({device, "bf16"});
        }
    }
    return found;
}

// Everything that is random, stored or measured, so that a resumed run has to restore all of it.
nlohmann::json with_all_that_is_drawn(nlohmann::json settings, const std::string& compute, std::int64_t steps,
                                      std::int64_t checkpoint_every) {
    settings["data"]["train"] = {{{"tsv", "train.tsv"}, {"weight", 1.5}},
                                 {{"tsv", "valid.tsv"}, {"order", "shuffled"}}};
    settings["data"]["join"] = {{"share", 0.3}, {"most", 3}};
    settings["data"]["bpe_dropout"] = 0.1;
    settings["training"].update({{"steps", steps},
                                 {"compute", compute},
                                 {"checkpoint_every", checkpoint_every},
                                 {"validate_every", 5},
                                 {"validate_bleu", 2},
                                 {"ema_decay", 0.9}});
    return settings;
}

constexpr const char* kChildFolder = "HEADSCOPE_TEST_CHILD_FOLDER";
constexpr const char* kChildSteps = "HEADSCOPE_TEST_CHILD_STEPS";
constexpr const char* kChildShare = "HEADSCOPE_TEST_CHILD_SHARE";
constexpr const char* kChildDevice = "HEADSCOPE_TEST_CHILD_DEVICE";

// Runs this test program again with only the hidden case below on `folder`: it kills itself after `steps` steps and
// `thousandths` of two more. Returns its exit status.
int run_child(const std::string& folder, const std::string& device, std::uint64_t steps, std::uint64_t thousandths) {
    setenv(kChildFolder, folder.c_str(), 1);
    setenv(kChildDevice, device.c_str(), 1);
    setenv(kChildSteps, std::to_string(steps).c_str(), 1);
    setenv(kChildShare, std::to_string(thousandths).c_str(), 1);
    std::string program = "/proc/self/exe";
    std::string which = "[child]";
    char* arguments[] = {program.data(), which.data(), nullptr};
    pid_t child = 0;
    REQUIRE(posix_spawn(&child, "/proc/self/exe", nullptr, nullptr, arguments, environ) == 0);
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    return status;
}

// Called before each step. A thread kills the process at a time measured in steps, so that the speed of the machine
// does not matter.
class Killer {
public:
    Killer() : left_(number(kChildSteps)), share_(static_cast<double>(number(kChildShare)) / 1000.0) {}

    void before_step() {
        const Clock::time_point now = Clock::now();
        if (left_-- == 0) {
            std::thread([pause = (now - before_) * 2 * share_] {
                std::this_thread::sleep_for(pause);
                kill(getpid(), SIGKILL);
            }).detach();
        }
        before_ = now;
    }

private:
    using Clock = std::chrono::steady_clock;
    static std::int64_t number(const char* name) { return std::stoll(std::getenv(name)); }
    std::int64_t left_;
    double share_;
    Clock::time_point before_ = Clock::now();
};

}  // namespace

TEST_CASE("a stopped and resumed run ends with the weights of an uninterrupted one, bit for bit", "[resume]") {
    const Setting on = GENERATE(from_range(settings_under_test()));
    INFO(on.device << " " << on.compute);
    const TemporaryFolder folder;
    nlohmann::json settings = write_digits(folder);
    settings["training"]["compute"] = on.compute;
    DigitsRun unbroken(folder, settings, "unbroken", on.device);
    unbroken.start().train();

    DigitsRun first(folder, settings, "broken", on.device);
    first.hooks.stop_requested = stop_after(11);  // not a step with a report or a checkpoint
    CHECK(first.start().train() == RunEnd::Stopped);
    CHECK(first.training->step() == 11);
    DigitsRun second(folder, settings, "broken", on.device);
    CHECK(second.start(true).train() == RunEnd::Finished);
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

TEST_CASE("checkpoints after powers of two stay, and change no weight", "[resume]") {
    const TemporaryFolder folder;
    nlohmann::json settings = write_digits(folder);
    DigitsRun without(folder, settings, "without");
    without.start().train();
    without.training->write_model(folder.file("without-model"));
    settings["training"]["keep_powers_of_two"] = true;
    const auto run = stopped_and_finished(folder, settings, "with", 11);
    CHECK(CheckpointFolder(run->output_folder + "/checkpoints").steps() ==
          std::vector<std::int64_t>{1, 2, 4, 8, 16, 24});
    run->training->write_model(folder.file("with-model"));
    CHECK(weights_of_model(*run->backend, folder.file("with-model")) ==
          weights_of_model(*without.backend, folder.file("without-model")));
    settings["training"]["keep_last"] = 1;
    settings["training"]["average_last"] = 1;
    DigitsRun few(folder, settings, "few");
    few.start().train();
    CHECK(CheckpointFolder(few.output_folder + "/checkpoints").steps() ==
          std::vector<std::int64_t>{1, 2, 4, 8, 16, 24});
}

TEST_CASE("a truncated or changed newest checkpoint costs only the steps since the previous one", "[resume]") {
    const TemporaryFolder folder;
    const nlohmann::json settings = write_digits(folder);
    DigitsRun run(folder, settings, "out");
    run.start().train();
    const auto weights = run.weights();
    const std::string newest = CheckpointFolder(run.output_folder + "/checkpoints").file_of(24);
    std::string altered = read_all(newest);
    altered[altered.size() / 2] = static_cast<char>(altered[altered.size() / 2] ^ 1);
    for (const std::string& damaged : {altered, altered.substr(0, 1000)}) {
        std::ofstream(newest, std::ios::binary) << damaged;
        DigitsRun again(folder, settings, "out");
        CHECK(again.start(true).step() == 16);
        CHECK_THAT(again.said, Catch::Contains("warning") && Catch::Contains("step-00000024"));
        again.training->train();
        CHECK(again.weights() == weights);
    }
}

TEST_CASE("checkpoints of another run are not resumed", "[resume]") {
    const TemporaryFolder folder;
    nlohmann::json settings = write_digits(folder);
    DigitsRun run(folder, settings, "out");
    run.hooks.stop_requested = stop_after(2);
    run.start().train();
    settings["training"]["seed"] = 2;
    DigitsRun other(folder, settings, "out");
    CHECK_THAT(error_of([&] { other.start(true); }), Catch::Contains("\"training.seed\" was 1 and is now 2"));
}

TEST_CASE("a process that trains until it is killed", "[.child]") {
    const char* path = std::getenv(kChildFolder);
    REQUIRE(path != nullptr);
    const std::string folder = path;
    const TrainConfig config = read_train_config(folder + "/digits.json", "");
    const char* device = std::getenv(kChildDevice);
    REQUIRE(device != nullptr);
    const auto backend = open_device(device, environment_options());
    Killer killer;
    RunHooks hooks;
    hooks.stop_requested = [&] {
        killer.before_step();
        return false;
    };
    const RunFolder out(folder + "/out", hooks.say);
    TrainingData data = prepare_training_data(config, out.path() + "/tokenizer", {.reuse = true}, hooks.say);
    Learner learner = make_learner(*backend, config, data, hooks);
    Run run(learner, config, std::move(data), out.path(), hooks);
    run.resume();
    run.train();
}

TEST_CASE("kill -9 at random moments changes no bit of the result", "[resume]") {
    const Setting on = GENERATE(from_range(settings_under_test()));
    const bool fast = on.device == "cpu" && on.compute == "f32";  // starting a software GPU takes longer than its steps
    const std::int64_t steps = fast ? 40 : 24;
    constexpr std::int64_t kEvery = 2;  // steps between checkpoints, so that many kills hit a partial one
    const TemporaryFolder folder;
    const nlohmann::json settings = with_all_that_is_drawn(write_digits(folder), on.compute, steps, kEvery);
    folder.write("digits.json", settings.dump());
    DigitsRun unbroken(folder, settings, "unbroken", on.device);
    unbroken.start().train();
    const auto weights = unbroken.weights();
    unbroken.training->write_model(unbroken.output_folder + "/model");

    const auto seed = static_cast<std::uint64_t>(getpid());
    INFO(on.device << " " << on.compute << ", seed " << seed);
    Random random(seed);
    // One run after another until there were enough kills: on a busy machine a run may end before its killer wakes.
    const char* asked = std::getenv("HEADSCOPE_TEST_KILLS");
    const int wanted = asked != nullptr ? std::stoi(asked) : fast ? 4 : 1;
    for (int kills = 0; kills < wanted;) {
        std::filesystem::remove_all(folder.file("out"));
        int status = SIGKILL;
        // Each process gets past a checkpoint, so that the run ends.
        for (int starts = 0; WIFSIGNALED(status) && starts <= steps / kEvery; ++starts) {
            status = run_child(folder.file(""), on.device, kEvery + random.below(8), random.below(1000));
            REQUIRE((WIFEXITED(status) || WTERMSIG(status) == SIGKILL));
            kills += WIFSIGNALED(status) ? 1 : 0;
        }
        REQUIRE(WIFEXITED(status));
        REQUIRE(WEXITSTATUS(status) == 0);
        DigitsRun result(folder, settings, "out", on.device);
        CHECK(result.start(true).step() == steps);
        CHECK(result.weights() == weights);
        CHECK(logged(result.output_folder, "validation") == logged(unbroken.output_folder, "validation"));
        result.training->write_model(result.output_folder + "/model");
        for (const char* file : {"best.safetensors", "model/model.safetensors"}) {
            INFO(file);
            CHECK((read_all(folder.file("out/") + file) == read_all(folder.file("unbroken/") + file)));  // not printed
        }
    }
}
