// Trainings on several ranks, as threads of this process.
#include <catch2/catch.hpp>

#include <unistd.h>

#include <filesystem>
#include <map>
#include <mutex>

#include "tests/ops/devices.h"
#include "tests/parallel/threads.h"
#include "tests/support/variable.h"
#include "tests/train/digits_run.h"
#include "train/text_tasks.h"
#include "train/training_job.h"

using namespace headscope;

namespace {

// What a run leaves that does not depend on time.
struct Outcome {
    std::map<std::string, std::string> checkpoints;  // their tensors' bytes, by file
    std::vector<std::string> log;

    bool operator==(const Outcome&) const = default;
};

std::vector<std::string> log_of(const std::string& output) {
    std::vector<std::string> lines;
    std::ifstream file(output + "/log.jsonl");
    for (std::string line; std::getline(file, line);) {
        nlohmann::json entry = nlohmann::json::parse(line);
        for (const char* key : {"seconds", "minutes", "minutes_left", "tokens_per_second", "training", "memory_bytes",
                                "source_tokens_per_second", "target_tokens_per_second"}) {
            entry.erase(key);
        }
        lines.push_back(entry.dump());
    }
    return lines;
}

Outcome outcome_of(const std::string& output) {
    Outcome found{.checkpoints = {}, .log = log_of(output)};
    for (const std::int64_t step : CheckpointFolder(output + "/checkpoints").steps()) {
        const std::string path = CheckpointFolder(output + "/checkpoints").file_of(step);
        const SafeTensorsFile file = SafeTensorsFile::open(path);
        std::string& bytes = found.checkpoints[std::to_string(step)];
        for (const SafeTensorsEntry& entry : file.entries()) {
            const MappedTensor tensor = file.at(entry.name);
            bytes += entry.name;
            bytes.append(reinterpret_cast<const char*>(tensor.data.data()), tensor.data.size());
        }
    }
    return found;
}

struct RankedRun {
    const TemporaryFolder& folder;
    nlohmann::json settings;
    std::vector<std::string> devices = {"cpu"};  // of each rank, or of all
    int stop_after_steps = -1;
    std::function<void(int rank, TrainingRequest& request)> change = [](int, TrainingRequest&) {};
    Log say = [](const std::string&) {};  // of rank 0
    Log others_say = [](const std::string&) {};

    // Returns why each rank failed.
    std::vector<std::string> train(const std::string& output, int count, bool resume = false) const {
        return on_ranks(count, [&](Communicator& ranks) {
            const std::string& device = devices[static_cast<std::size_t>(ranks.rank()) % devices.size()];
            ranks.introduce(device);
            TrainingRequest request{.config = RunConfig(RunConfig::with_data(settings, folder.file("")), "digits.json"),
                                    .output = folder.file(output),
                                    .resume = resume,
                                    .ranks = &ranks};
            change(ranks.rank(), request);
            TrainingJob job(std::move(request), [](const std::string&) {});
            std::unique_ptr<Backend> backend;
            RunHooks hooks;
            hooks.say = ranks.leads() ? say : others_say;
            if (stop_after_steps >= 0 && ranks.leads()) {
                hooks.stop_requested = stop_after(stop_after_steps);
            }
            job.run(
                [&]() -> Backend& {
                    backend = open_device(device, environment_options());
                    return *backend;
                },
                [&](Backend&) { return hooks; });
        });
    }

    Outcome outcome(const std::string& output, int count) const {
        CHECK(train(output, count) == std::vector<std::string>(static_cast<std::size_t>(count)));
        return outcome_of(folder.file(output));
    }
};

// What is told to the user.
std::string reason_of(const std::vector<std::string>& failures) {
    for (const std::string& failure : failures) {
        if (failure != OtherRankFailed().what()) {
            return failure;
        }
    }
    return "";
}

nlohmann::json in_shards(nlohmann::json settings, int shards) {
    settings["training"]["shards"] = shards;
    settings["training"]["clip_norm"] = 0.5;
    settings["training"]["watch_gradients"] = true;
    settings["training"]["validate_bleu"] = 6;
    return settings;
}

nlohmann::json text_settings(const std::string& task) {
    nlohmann::json settings = nlohmann::json::parse(R"({
        "model": {"d_model": 32, "d_ff": 64, "heads": 2, "norm": "pre"},
        "data": {"train": {"text": "train.txt"}, "valid": {"text": "valid.txt"}, "documents": "paragraph"},
        "tokenizer": {"type": "bpe", "vocabulary": 60},
        "training": {"steps": 12, "shards": 4, "source_tokens": 256, "target_tokens": 256, "warmup_steps": 40,
                     "max_length": 32, "attention_dropout": 0.1, "report_every": 5, "validate_every": 4,
                     "checkpoint_every": 4, "checkpoint_minutes": 0}
    })");
    settings["task"] = task;
    settings["model"][task == "causal" ? "decoder_layers" : "encoder_layers"] = 1;
    if (task == "span") {
        settings["model"]["decoder_layers"] = 1;
    }
    return settings;
}

std::string cloze_text(std::int64_t lines) {
    std::string text;
    for (const TextTaskLine& line : make_cloze_task(lines, 1)) {
        text += line.text + "\n\n";
    }
    return text;
}

}  // namespace

TEST_CASE("any number of ranks trains the same weights, bit for bit", "[ranks]") {
    const TemporaryFolder folder;
    RankedRun run{folder, in_shards(write_digits(folder), 4)};
    SECTION("translation") {}
    SECTION("with an exponential mean, and parts within shards") {
        run.settings["training"]["ema_decay"] = 0.9;
        run.settings["training"]["micro_batch_tokens"] = 100;
    }
    SECTION("steps with fewer sentences than shards") {
        run.settings["training"]["source_tokens"] = run.settings["training"]["target_tokens"] = 64;
    }
    SECTION("experts") {
        run.settings["model"].erase("d_ff");
        run.settings["model"]["feed_forward"] = {{"d_ff", 64}, {"experts", {{"count", 2}, {"per_token", 1}}}};
        run.settings["training"]["expert_balance"] = 0.1;
    }
    const Outcome one = run.outcome("one", 1);
    CHECK(one.checkpoints.size() == 3);
    CHECK(one.log.size() >= 7);
    for (const int count : {2, 3, 4}) {
        CAPTURE(count);
        const Outcome found = run.outcome("ranks-" + std::to_string(count), count);
        CHECK(found.log == one.log);
        CHECK(found.checkpoints == one.checkpoints);
    }
}

TEST_CASE("ranks train language models", "[ranks]") {
    const std::string task = GENERATE("causal", "masked", "span");
    const TemporaryFolder folder;
    folder.write("train.txt", cloze_text(160));
    folder.write("valid.txt", "the owls below the pig hoot often\n\nthe pig grunts\n");
    const RankedRun run{folder, text_settings(task)};
    const Outcome one = run.outcome("one", 1);
    const Outcome three = run.outcome("three", 3);
    CAPTURE(task);
    CHECK(three.log == one.log);
    CHECK(three.checkpoints == one.checkpoints);
}

TEST_CASE("a training goes on with another number of ranks", "[ranks]") {
    const TemporaryFolder folder;
    RankedRun run{folder, in_shards(write_digits(folder), 4)};
    const Outcome whole = run.outcome("whole", 1);
    int steps = 5;
    for (const int count : {4, 2, 3}) {
        run.stop_after_steps = steps;
        steps = 6;
        CHECK(run.train("parts", count, count != 4) == std::vector<std::string>(static_cast<std::size_t>(count)));
    }
    run.stop_after_steps = -1;
    CHECK(run.train("parts", 1, true) == std::vector<std::string>(1));
    CHECK(outcome_of(folder.file("parts")).checkpoints == whole.checkpoints);
}

TEST_CASE("ranks on each device train the same weights, in F16, too", "[ranks]") {
    const std::string precision = GENERATE("f32", "f16");
    for (const std::string& device :
         precision == "f32" ? conformance::devices_under_test() : conformance::devices_with_storage()) {
        CAPTURE(device, precision);
        const TemporaryFolder folder;
        RankedRun run{folder, in_shards(write_digits(folder), 2), {device}};
        run.settings["training"]["precision"] = precision;
        run.settings["training"]["steps"] = 6;
        run.settings["training"]["validate_every"] = 3;
        run.settings["training"]["checkpoint_every"] = 3;
        const Outcome one = run.outcome("one", 1);
        const Outcome two = run.outcome("two", 2);
        CHECK(two.log == one.log);
        CHECK(two.checkpoints == one.checkpoints);
    }
}

// On emulated devices, with an emulated library that HEADSCOPE_CUDA_NCCL names.
TEST_CASE("GPUs that send each other gradients train the same weights", "[.][nccl]") {
    const Variable cards("HEADSCOPE_FAKE_CUDA_CARDS", "Fake,90,4096;Fake,90,4096");
    const TemporaryFolder folder;
    RankedRun run{folder, in_shards(write_digits(folder), 2), {"cuda:0", "cuda:1"}};
    run.settings["training"]["steps"] = 2;
    run.settings["training"].erase("validate_bleu");
    std::string said;
    run.say = [&](const std::string& line) { said += line + "\n"; };
    const Outcome found = run.outcome("nccl", 2);
    CHECK_THAT(said, Catch::Contains("\ngradients go from GPU to GPU by NCCL 2.28.9\n"));
    said.clear();
    const Variable off("HEADSCOPE_CUDA_NCCL", "0");
    CHECK(run.outcome("host", 2).checkpoints == found.checkpoints);
    CHECK_THAT(said, Catch::Contains("gradients go through the host's memory: rank 0 (cuda:0): HEADSCOPE_CUDA_NCCL=0"));
    said.clear();
    CHECK(run.outcome("one", 1).checkpoints == found.checkpoints);
    CHECK_THAT(said, !Catch::Contains("gradients go"));
}

TEST_CASE("the CPU and another device train together", "[ranks]") {
    const std::string device = GENERATE(from_range(conformance::devices_under_test()));
    CAPTURE(device);
    const TemporaryFolder folder;
    RankedRun run{folder, in_shards(write_digits(folder), 2)};
    run.settings["training"]["steps"] = 6;
    CHECK(run.train("cpu", 1) == std::vector<std::string>(1));
    run.devices = {"cpu", device};
    CHECK(run.train("mixed", 2) == std::vector<std::string>(2));
    const auto backend = open_device("cpu", environment_options());
    const std::vector<double> expected = weights_of_model(*backend, folder.file("cpu/model"));
    const std::vector<double> found = weights_of_model(*backend, folder.file("mixed/model"));
    double largest = 0.0;
    for (std::size_t i = 0; i < found.size(); ++i) {
        largest = std::max(largest, std::abs(found[i] - expected[i]));
    }
    CHECK(largest < 1e-5);
}

TEST_CASE("ranks that start from something else are named", "[ranks]") {
    const TemporaryFolder folder;
    RankedRun run{folder, in_shards(write_digits(folder), 2)};
    std::string expected;
    SECTION("another program") {
        run.change = [](int rank, TrainingRequest& request) { request.program = rank == 0 ? "new" : "old"; };
        expected = "rank 1 (cpu) has another program than rank 0 (cpu): \"old\", not \"new\"";
    }
    SECTION("another folder") {
        run.change = [&](int rank, TrainingRequest& request) {
            request.output = folder.file(rank == 0 ? "out" : "elsewhere");
        };
        expected = "rank 1 (cpu) does not see the files of rank 0 (cpu) in '";
    }
    CHECK_THAT(reason_of(run.train("out", 2)), Catch::StartsWith(expected));
    CHECK(CheckpointFolder(folder.file("out/checkpoints")).steps().empty());
}

TEST_CASE("ranks go on from the checkpoint that rank 0 chose", "[ranks]") {
    const TemporaryFolder folder;
    RankedRun run{folder, in_shards(write_digits(folder), 2)};
    run.settings["training"]["checkpoint_every"] = 4;
    run.stop_after_steps = 10;
    CHECK(run.train("out", 2) == std::vector<std::string>(2));
    CHECK(run.train("other", 2) == std::vector<std::string>(2));
    run.stop_after_steps = -1;
    // Rank 1 sees another folder, though with the file by which rank 0 knows that it sees its own.
    run.change = [&](int rank, TrainingRequest& request) { request.output = folder.file(rank == 0 ? "out" : "other"); };
    folder.write("other/.ranks-" + std::to_string(::getpid()), "");
    std::string expected = "rank 0 (cpu) and rank 1 (cpu) see different files as ";
    SECTION("another training's") {}
    SECTION("an older one") {
        std::filesystem::remove(folder.file("other/checkpoints/step-00000010.safetensors"));
        expected = "";
    }
    const std::string reason = reason_of(run.train("out", 2, true));
    CHECK_THAT(reason, Catch::StartsWith(expected) && Catch::Contains("other/checkpoints/step-00000010.safetensors"));
}

TEST_CASE("only rank 0 talks with the user", "[ranks]") {
    const TemporaryFolder folder;
    RankedRun run{folder, in_shards(write_digits(folder), 2)};
    run.settings["training"]["steps"] = 2;
    run.settings["model"]["output"]["adaptive"]["cutoffs"] = {20};
    run.settings["model"]["embedding"]["tying"] = "none";
    std::string said;
    std::string of_others;
    run.say = [&](const std::string& line) { said += line + "\n"; };
    run.others_say = [&](const std::string& line) { of_others += line + "\n"; };
    CHECK(run.train("out", 2) == std::vector<std::string>(2));
    CHECK_THAT(said, Catch::Contains("cluster"));
    CHECK(of_others.empty());
}

TEST_CASE("a rank that hangs before the first step is missed early", "[ranks]") {
    class Recorder final : public Communicator {
    public:
        int rank() const override { return 0; }
        int size() const override { return 1; }
        void exchange(std::span<const std::span<const std::byte>> out,
                      std::span<const std::span<std::byte>> in) override {
            alone().exchange(out, in);
        }
        void check() override {}
        void announce(const std::string& what, Takes time = Takes::Short) override { words.emplace_back(what, time); }
        void fail(const std::string& /*reason*/, int /*exit_code*/ = 1) override {}
        std::chrono::duration<double> patience() const override { return alone().patience(); }
        void begin() override { words.emplace_back("begin", Takes::Short); }

        std::vector<std::pair<std::string, Takes>> words;
    } recorder;
    const TemporaryFolder folder;
    RankedRun run{folder, in_shards(write_digits(folder), 2)};
    run.settings["training"]["steps"] = 1;
    run.change = [&](int, TrainingRequest& request) { request.ranks = &recorder; };
    CHECK(run.train("out", 1) == std::vector<std::string>(1));
    const auto begin = std::ranges::find(recorder.words, std::pair<std::string, Communicator::Takes>("begin", {}));
    REQUIRE(begin - recorder.words.begin() > 3);
    CHECK(*(begin - 1) == std::pair<std::string, Communicator::Takes>("starting", Communicator::Takes::Short));
    REQUIRE(begin + 1 != recorder.words.end());
    CHECK((begin + 1)->first == "step 1");
}

TEST_CASE("what ranks cannot share is an error that names it", "[ranks]") {
    const TemporaryFolder folder;
    RankedRun run{folder, in_shards(write_digits(folder), 2)};
    SECTION("too few shards") {
        CHECK_THAT(reason_of(run.train("out", 3)),
                   Catch::Contains("\"training.shards\" (2) is less than the number of ranks (3)"));
    }
    SECTION("a batch norm") {
        run.settings["model"]["norm_type"] = "batch";
        CHECK_THAT(reason_of(run.train("out", 2)), Catch::Contains("a batch norm is trained by one rank, not 2"));
    }
    SECTION("a number of shards that is no power of two") {
        run.settings["training"]["shards"] = 3;
        CHECK_THAT(reason_of(run.train("out", 2)), Catch::Contains("\"training.shards\" (3) must be a power of two"));
    }
}
