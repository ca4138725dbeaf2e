// When the disk fills up, a training loses nothing that was saved, only the steps since.
#include <catch2/catch.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "tests/io/file_size_limit.h"
#include "tests/train/digits_run.h"

using namespace headscope;
namespace fs = std::filesystem;

namespace {

// There are no partial files.
void check_no_leftovers(const std::string& folder) {
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
        INFO(entry.path());
        CHECK(entry.path().extension() != ".tmp");
    }
}

// A run of 24 steps, stopped after 9, with checkpoints and, from step 8, a best model.
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

    // Resumes with space only for files a tenth smaller than the named one, which must stay unchanged. Returns the
    // error.
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

    // Resumes to step 24, with space again; the result must be that of an uninterrupted run.
    void check_resumes(std::int64_t from) const {
        DigitsRun again(folder, settings, "out");
        CHECK(again.start(true).step() == from);
        CHECK(again.training->train() == RunEnd::Finished);
        CHECK(again.weights() == expected);
    }

    TemporaryFolder folder;
    nlohmann::json settings;
    std::vector<double> expected;  // weights of an uninterrupted run
};

}  // namespace

TEST_CASE("a full disk at a checkpoint ends the run and keeps the earlier ones", "[full_disk]") {
    const StoppedRun run;
    CHECK_THAT(run.goes_on_without_room_for("checkpoints/step-00000009.safetensors"),
               Catch::Contains("step-00000016.safetensors"));
    run.check_resumes(9);
}

TEST_CASE("a full disk at a best model leaves the previous one", "[full_disk]") {
    const StoppedRun run;
    CHECK_THAT(run.goes_on_without_room_for("best.safetensors"), Catch::Contains("best.safetensors"));
    run.check_resumes(9);
}

TEST_CASE("log and event files that cannot be written cause one warning each", "[full_disk]") {
    const TemporaryFolder folder;
    nlohmann::json settings = write_digits(folder);
    settings["training"].update({{"report_every", 1}, {"tensorboard", true}});
    DigitsRun run(folder, settings, "out");
    std::optional<FileSizeLimit> limit;
    run.hooks.stop_requested = [&limit, step = 0]() mutable {
        if (step++ == 9) {  // after a checkpoint, which is larger
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
    CHECK_THAT(problem, Catch::Contains("checkpoints/"));  // the last one does not fit either
    CHECK(count("log.jsonl': File too large") == 1);
    CHECK(count("events.out.tfevents.") == 1);
    CHECK(count("warning: cannot write") == 2);
}

TEST_CASE("a full disk at the log causes a warning and does not end the run", "[full_disk]") {
    const StoppedRun run;
    const std::string log = run.file("log.jsonl");
    DigitsRun full(run.folder, run.settings, "out");
    full.hooks.stop_requested = [&log, step = 0]() mutable {
        if (step++ == 1) {
            fs::remove(log);
            fs::create_symlink("/dev/full", log);  // every write fails as on a full disk
        }
        return false;
    };
    CHECK(full.start(true).train() == RunEnd::Finished);
    CHECK_THAT(full.said, Catch::Contains("warning: cannot write to '" + log + "': No space left on device"));
    CHECK(full.said.find("log.jsonl") == full.said.rfind("log.jsonl"));  // one warning
    CHECK(full.weights() == run.expected);
}

TEST_CASE("a full disk at the model leaves the previous one, and a retry succeeds", "[full_disk]") {
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
