// What a training loses when its disk fills up: nothing that was saved, and no more than the steps since.
#include <catch2/catch.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "tests/io/file_size_limit.h"
#include "tests/train/digits_run.h"

using namespace headscope;
namespace fs = std::filesystem;

namespace {

// Nothing that was begun and not ended lies about.
void check_no_leftovers(const std::string& folder) {
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
        INFO(entry.path());
        CHECK(entry.path().extension() != ".tmp");
    }
}

// A run of 24 steps that is stopped after 9, so that it holds checkpoints and, from step 8, a best model.
struct StoppedRun {
    explicit StoppedRun(int d_model = 32) : settings(write_digits(folder)) {
        settings["model"]["d_model"] = d_model;
        DigitsRun unbroken(folder, settings, "unbroken");
        unbroken.start().train();
        expected = unbroken.weights();
        DigitsRun first(folder, settings, "out");
        first.hooks.stop_requested = stop_after(9);
        REQUIRE(first.start().train() == RunEnd::Stopped);
        REQUIRE(first.training->step() == 9);
    }
    std::string file(const std::string& name) const { return folder.file("out/" + name); }

    // Goes on, with room only for files a tenth smaller than the one named, which must stay as it is. Returns why
    // the run ended.
    std::string goes_on_without_room_for(const std::string& name) const {
        const std::string before = read_all(file(name));
        std::string problem;
        {
            DigitsRun full(folder, settings, "out");
            full.start(true);
            const FileSizeLimit limit(before.size() * 9 / 10);
            problem = error_of([&] { full.training->train(); });
        }
        CHECK(read_all(file(name)) == before);
        check_no_leftovers(file(""));
        return problem;
    }

    // Goes on to step 24, with room again; the result must be that of a run that never stopped.
    void check_resumes(std::int64_t from) const {
        DigitsRun again(folder, settings, "out");
        CHECK(again.start(true).step() == from);
        CHECK(again.training->train() == RunEnd::Finished);
        CHECK(again.weights() == expected);
    }

    TemporaryFolder folder;
    nlohmann::json settings;
    std::vector<double> expected;  // weights of a run that was never stopped
};

}  // namespace

TEST_CASE("a checkpoint that finds no room ends the run and keeps the ones before", "[full_disk]") {
    const StoppedRun run;
    CHECK_THAT(run.goes_on_without_room_for("checkpoints/step-00000009.safetensors"),
               Catch::Contains("step-00000016.safetensors"));
    run.check_resumes(9);
}

TEST_CASE("a best model that finds no room leaves the one before", "[full_disk]") {
    const StoppedRun run;
    CHECK_THAT(run.goes_on_without_room_for("best.safetensors"), Catch::Contains("best.safetensors"));
    run.check_resumes(9);
}

TEST_CASE("a log and its events that may not grow are warned of once each, with the reason", "[full_disk]") {
    const TemporaryFolder folder;
    nlohmann::json settings = write_digits(folder);
    settings["training"].update({{"report_every", 1}, {"tensorboard", true}});
    DigitsRun run(folder, settings, "out");
    std::optional<FileSizeLimit> limit;
    run.hooks.stop_requested = [&limit, step = 0]() mutable {
        if (step++ == 9) {  // behind a checkpoint, which is larger
            limit.emplace(1500);
        }
        return step > 14;
    };
    const std::string problem = error_of([&] { run.start().train(); });
    limit.reset();
    const auto count = [&](const std::string& text) {
        std::size_t found = 0;
        for (std::size_t at = run.said.find(text); at != std::string::npos; at = run.said.find(text, at + 1)) {
            ++found;
        }
        return found;
    };
    CHECK_THAT(problem, Catch::Contains("checkpoints/"));  // the last one finds no room either
    CHECK(count("log.jsonl': File too large") == 1);
    CHECK(count("events.out.tfevents.") == 1);
    CHECK(count("warning: cannot write") == 2);
}

TEST_CASE("a log that finds no room is said, and does not end the run", "[full_disk]") {
    const StoppedRun run;
    const std::string log = run.file("log.jsonl");
    DigitsRun full(run.folder, run.settings, "out");
    full.hooks.stop_requested = [&log, step = 0]() mutable {
        if (step++ == 1) {
            fs::remove(log);
            fs::create_symlink("/dev/full", log);  // every write to it fails as on a full disk
        }
        return false;
    };
    CHECK(full.start(true).train() == RunEnd::Finished);
    CHECK_THAT(full.said, Catch::Contains("warning: cannot write to '" + log + "': No space left on device"));
    CHECK(full.said.find("log.jsonl") == full.said.rfind("log.jsonl"));  // it is said once
    CHECK(full.weights() == run.expected);
}

TEST_CASE("a model that finds no room leaves the one before, and is written once there is some", "[full_disk]") {
    const StoppedRun run(128);  // so that the weights are the largest file of the model
    const std::string folder = run.file("model");
    DigitsRun full(run.folder, run.settings, "out");
    full.start(true).write_model(folder);
    const std::string weights = read_all(folder + "/model.safetensors");
    const std::string config = read_all(folder + "/config.json");
    full.training->train();
    std::string problem;
    {
        const FileSizeLimit limit(weights.size() * 9 / 10);
        problem = error_of([&] { full.training->write_model(folder); });
    }
    CHECK_THAT(problem, Catch::Contains("model.safetensors"));
    CHECK(read_all(folder + "/model.safetensors") == weights);
    CHECK(read_all(folder + "/config.json") == config);
    check_no_leftovers(run.file(""));
    full.training->write_model(folder);
    CHECK(read_all(folder + "/model.safetensors") != weights);
}
