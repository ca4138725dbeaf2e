// Experiments: resumed after random stops, on two devices, with trials that fail, and refused when changed.
#include <atomic>
#include <catch2/catch.hpp>
#include <filesystem>
#include <limits>
#include <map>
#include <memory>
#include <new>
#include <nlohmann/json.hpp>
#include <random>

#include "experiment/plan.h"
#include "experiment/studies.h"
#include "registry/registry.h"
#include "tests/house/open_options.h"
#include "tests/io/temporary_folder.h"
#include "tests/parallel/threads.h"
#include "train/digits_task.h"
#include "train/run_config.h"

using namespace headscope;
namespace fs = std::filesystem;

namespace {

struct Digits {
    Digits() {
        std::string train;
        std::string valid;
        for (const DigitsPair& pair : make_digits_task(400, 1)) {
            (train.size() < 12'000 ? train : valid) += pair.digits + "\t" + pair.words + "\n";
        }
        folder.write("train.tsv", train);
        folder.write("valid.tsv", valid.substr(0, valid.find('\n', 600) + 1));
        base = RunConfig::with_data(nlohmann::json::parse(R"({
            "model": {"encoder_layers": 3, "decoder_layers": 3, "d_model": 16, "d_ff": 16, "heads": 8, "d_k": 4,
                      "d_v": 4},
            "data": {"train": {"tsv": "train.tsv"}, "valid": {"tsv": "valid.tsv"}},
            "tokenizer": {"type": "bpe", "vocabulary": 72, "shared": true},
            "training": {"steps": 12, "source_tokens": 256, "target_tokens": 512, "warmup_steps": 10, "max_length": 64,
                         "checkpoint_every": 5, "checkpoint_minutes": 0, "keep_last": 1, "validate_every": 0}
        })"),
                                    folder.file(""));
    }

    ExperimentOptions options(const std::string& output) const {
        return {.folder = folder.file(output), .devices = {"cpu"}, .open = open};
    }
    static std::unique_ptr<Backend> open(const std::string& device) {
        return open_device(device, environment_options());
    }
    std::vector<Trial> trials() const { return trainings()->trials(); }
    // Of three rows of Table 3.
    std::unique_ptr<Trainings> trainings(int seeds = 1) const {
        return begin_trainings(study_named("table3"),
                               {.values = {{"rows", {"base", "C1", "D1"}}, {"seeds", seeds}}, .base = base});
    }

    TemporaryFolder folder;
    nlohmann::json base;
};

void ignore(std::size_t /*trial*/, const TrialOutcome& /*outcome*/) {}

// Everything but times.
nlohmann::json table_of(const Digits& digits, const Experiment& experiment) {
    nlohmann::json json = digits.trainings()->report(experiment, {}).json;
    for (nlohmann::json& row : json["rows"]) {
        if (row.contains("ours")) {
            for (const char* key : {"minutes", "training_tokens_per_second", "decoding_tokens_per_second"}) {
                row["ours"]["trials"][0].erase(key);
            }
        }
    }
    return json;
}

nlohmann::json finished(const Digits& digits, const ExperimentOptions& options) {
    const Experiment experiment("table3", digits.base, options);
    for (const TrialOutcome& outcome : experiment.run(digits.trials(), ignore)) {
        CHECK(outcome.problem.empty());
        REQUIRE(outcome.result);
    }
    return table_of(digits, experiment);
}

}  // namespace

TEST_CASE("an experiment stopped at random gives the same table") {
    const Digits digits;
    const nlohmann::json expected = finished(digits, digits.options("unbroken"));
    CHECK(expected["rows"][0]["ours"]["steps"] == 12);
    std::minstd_rand random(std::random_device{}());
    std::size_t done = 0;
    int stops = 0;
    for (; done < 3; ++stops) {
        ExperimentOptions options = digits.options("stopped");
        int left = static_cast<int>(random() % 9) + 2;
        INFO("stopped after " << left << " questions");
        options.stop_requested = [&left] { return left-- <= 0; };
        const Experiment experiment("table3", digits.base, options);
        const std::vector<TrialOutcome> outcomes = experiment.run(digits.trials(), ignore);
        done = 0;
        for (const TrialOutcome& outcome : outcomes) {
            CHECK(outcome.problem.empty());
            done += outcome.result ? 1 : 0;
        }
    }
    CHECK(stops > 2);
    CHECK(finished(digits, digits.options("stopped")) == expected);
    CHECK_FALSE(fs::exists(digits.folder.file("stopped/C1-s1/checkpoints")));
    CHECK(fs::exists(digits.folder.file("stopped/C1-s1/model/config.json")));
}

TEST_CASE("rows that run side by side on two devices are the same") {
    const Digits digits;
    ExperimentOptions two = digits.options("two");
    two.devices = {"cpu", "cpu"};
    CHECK(finished(digits, two) == finished(digits, digits.options("one")));
}

TEST_CASE("rows that ranks share are the same, and rank 0 tells of all") {
    const Digits digits;
    std::vector<int> told(3);
    std::atomic<int> of_others{0};
    nlohmann::json table;
    require_on_ranks(2, [&](Communicator& ranks) {
        ExperimentOptions options = digits.options("shared");
        options.ranks = &ranks;
        std::vector<Trial> trials = digits.trials();
        const Experiment experiment("table3", digits.base, options);
        const std::vector<TrialOutcome> outcomes =
            experiment.run(trials, [&](std::size_t trial, const TrialOutcome& outcome) {
                ranks.leads() ? void(told[trial] += outcome.result ? 1 : 0) : void(++of_others);
            });
        if (ranks.leads()) {
            table = table_of(digits, experiment);
        } else {
            of_others += outcomes[0].result || !outcomes[1].result || outcomes[2].result ? 1 : 0;
        }
    });
    CHECK(told == std::vector<int>(3, 1));
    CHECK(of_others == 0);
    CHECK(table == finished(digits, digits.options("one")));
}

TEST_CASE("a finished trial is not repeated") {
    const Digits digits;
    finished(digits, digits.options("out"));
    const std::string result = read_all(digits.folder.file("out/base-s1/result.json"));
    nlohmann::json changed = nlohmann::json::parse(result);
    changed["perplexity"] = 2.5;
    digits.folder.write("out/base-s1/result.json", changed.dump());
    CHECK(finished(digits, digits.options("out"))["rows"][0]["ours"]["perplexity"]["mean"] == 2.5);
}

TEST_CASE("a result whose numbers are infinite is read again") {
    const Digits digits;
    const Trial trial{.name = "base", .config = digits.base};
    const TrialResult result{
        .logit_gap = std::numeric_limits<double>::infinity(), .bleu = {1.0}, .config = digits.base};
    digits.folder.write("result.json", to_json(result, trial.decodings).dump());
    const std::optional<TrialResult> read = read_result(digits.folder.file(""), trial);
    REQUIRE(read);
    CHECK(read->logit_gap == result.logit_gap);
    CHECK(read->perplexity == 0.0);
}

TEST_CASE("a trial that fails does not end the others") {
    const Digits digits;
    ExperimentOptions options = digits.options("out");
    const Experiment experiment("table3", digits.base, options);
    digits.folder.write("out/C1-s1", "in the way");
    const std::vector<TrialOutcome> outcomes = experiment.run(digits.trials(), ignore);
    CHECK(outcomes[0].result);
    CHECK(outcomes[1].problem.find("out/C1-s1") != std::string::npos);
    CHECK(outcomes[2].result);
    CHECK_FALSE(table_of(digits, experiment)["rows"][7].contains("ours"));
}

TEST_CASE("a trial whose lost device cannot be opened again does not end the others") {
    const Digits digits;
    ExperimentOptions options = digits.options("out");
    int opened = 0;
    options.open = [&](const std::string& device) {
        if (++opened == 2) {
            throw Error("not there yet");
        }
        return Digits::open(device);
    };
    options.say = [&](const std::string& line) {
        if (opened == 1 && line.starts_with("base-s1: step")) {
            throw DeviceLost("gone");
        }
    };
    const Experiment experiment("table3", digits.base, options);
    const std::vector<TrialOutcome> outcomes = experiment.run(digits.trials(), ignore);
    CHECK(outcomes[0].problem == "gone; reopening failed: not there yet");
    CHECK(outcomes[1].result);
    CHECK(outcomes[2].result);
    CHECK(opened == 3);
}

TEST_CASE("a device that is lost without a second chance is opened again for the next trial") {
    const Digits digits;
    ExperimentOptions options = digits.options("out");
    int opened = 0;
    options.open = [&](const std::string& device) {
        ++opened;
        return Digits::open(device);
    };
    options.say = [](const std::string& line) {
        if (line.starts_with("base-s1: step")) {
            throw DeviceLost("gone");
        }
    };
    const Experiment experiment("table3", digits.base, options);
    const std::vector<TrialOutcome> outcomes = experiment.run(digits.trials(), ignore);
    CHECK(outcomes[0].problem == "gone");
    CHECK(outcomes[2].result);
    CHECK(opened == 3);
}

TEST_CASE("a device that cannot be opened ends the experiment") {
    const Digits digits;
    ExperimentOptions options = digits.options("out");
    options.open = [](const std::string&) -> std::unique_ptr<Backend> { throw Error("no such device"); };
    const Experiment experiment("table3", digits.base, options);
    CHECK_THROWS_WITH(experiment.run(digits.trials(), ignore), "no such device");
}

TEST_CASE("a trial that fails with any exception does not end the others") {
    const Digits digits;
    ExperimentOptions options = digits.options("out");
    options.say = [](const std::string& line) {
        if (line.starts_with("base-s1: step")) {
            throw std::bad_alloc();
        }
    };
    const Experiment experiment("table3", digits.base, options);
    const std::vector<TrialOutcome> outcomes = experiment.run(digits.trials(), ignore);
    CHECK_FALSE(outcomes[0].problem.empty());
    CHECK(outcomes[1].result);
}

TEST_CASE("development pairs that cannot be scored are counted and named") {
    Digits digits;
    digits.base["model"]["max_length"] = 64;
    std::string endless;
    for (int i = 0; i < 100; ++i) {
        endless += "1 2 3 ";
    }
    digits.folder.write("valid.tsv", read_all(digits.folder.file("valid.tsv")) + endless + "\tone two three\n");
    const Experiment experiment("table3", digits.base, digits.options("out"));
    const std::vector<TrialOutcome> outcomes = experiment.run({digits.trials()[0]}, ignore);
    REQUIRE(outcomes[0].result);
    CHECK(outcomes[0].result->unscored == 1);
    const StudyReport report = digits.trainings()->report(experiment, {});
    CHECK(report.json["rows"][0]["ours"]["trials"][0]["unscored"] == 1);
    CHECK_THAT(report.notes,
               Catch::Matchers::Contains("base: seed 1: 1 pair of the development data not in PPL, 1 count as empty"));
}

TEST_CASE("a plan measures trials that differ only in their seed once") {
    const Digits digits;
    const std::vector<Trial> trials = digits.trainings(2)->trials();
    const auto planned = plan_trials(*Digits::open("cpu"), digits.base, trials);
    CHECK(planned[0].minutes == planned[3].minutes);
    CHECK(planned[0].minutes != planned[1].minutes);
    CHECK(planned[0].steps == 12);
}

TEST_CASE("a changed experiment is refused with the difference") {
    const Digits digits;
    finished(digits, digits.options("out"));
    const auto refusal = [&](const std::string& kind, const nlohmann::json& base) {
        return error_of([&] { const Experiment experiment(kind, base, digits.options("out")); });
    };
    nlohmann::json longer = digits.base;
    longer["training"]["steps"] = 13;
    CHECK_THAT(refusal("table3", longer),
               Catch::Matchers::Contains("holds another experiment: training: \"steps\" was 12 and is now 13"));
    CHECK_THAT(refusal("sweep", digits.base),
               Catch::Matchers::Contains("\"experiment\" was \"table3\" and is now \"sweep\""));
    const std::string train = read_all(digits.folder.file("train.tsv"));
    digits.folder.write("train.tsv", train.substr(0, train.find('\n', 6000) + 1));
    CHECK_THAT(refusal("table3", digits.base), Catch::Matchers::Contains("data: \"train\" was "));
    digits.folder.write("train.tsv", train);
    CHECK(refusal("table3", digits.base).empty());

    std::vector<Trial> trials = digits.trials();
    trials[0].config["training"]["seed"] = 7;
    const Experiment experiment("table3", digits.base, digits.options("out"));
    CHECK_THAT(
        experiment.run(trials, ignore)[0].problem,
        Catch::Matchers::Contains("is the result of another configuration: training: \"seed\" was 1 and is now 7"));
}

TEST_CASE("an experiment needs development data and a vocabulary that the data can fill") {
    Digits digits;
    const nlohmann::json base = digits.base;
    const auto refusal = [&] {
        return error_of([&] { const Experiment experiment("table3", digits.base, digits.options("out")); });
    };
    digits.base["tokenizer"]["vocabulary"] = 5000;
    CHECK_THAT(refusal(), Catch::Matchers::Contains("\"tokenizer.vocabulary\" 5000"));
    digits.base["data"].erase("valid");
    CHECK_THAT(refusal(), Catch::Matchers::Contains("name some in \"data.valid\""));
    digits.base = base;
    digits.base["training"]["source_tokens"] = digits.base["training"]["target_tokens"] = "auto";
    CHECK_THAT(refusal(), Catch::Matchers::Contains("\"training.source_tokens\" is \"auto\""));
    digits.base["task"] = "causal";
    digits.base["model"]["encoder_layers"] = 0;
    digits.base["data"]["train"] = digits.base["data"]["valid"] = {{"text", digits.folder.file("train.tsv")}};
    CHECK_THAT(refusal(), Catch::Matchers::Contains("\"task\" is \"causal\""));
    CHECK_FALSE(fs::exists(digits.folder.file("out")));
}
