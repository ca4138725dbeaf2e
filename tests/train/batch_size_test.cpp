// The search for the batch size, and dry runs.
#include "train/batch_size.h"

#include <catch2/catch.hpp>

#include <fmt/format.h>

#include "tests/train/digits_run.h"
#include "tests/train/limited_backend.h"
#include "train/dry_run.h"
#include "train/step_estimate.h"

using namespace headscope;
using Catch::Matchers::Contains;

namespace {

struct Rehearsed {
    explicit Rehearsed(const TemporaryFolder& folder)
        : config(parse_train_config(write_digits(folder), folder.file("digits.json"), "")),
          backend(open_device("cpu:oracle")),
          rehearsal(backend, config, config.model_config(72, 72), Arithmetic{}) {}
    TrainConfig config;
    LimitedBackend backend;
    StepRehearsal rehearsal;
};

}  // namespace

TEST_CASE("the found step is as large as fits in memory, with a margin", "[batch_size][memory]") {
    const TemporaryFolder folder;
    Rehearsed free_run(folder);
    const std::size_t small = free_run.rehearsal.memory_of(64).value();
    const std::size_t large = free_run.rehearsal.memory_of(1024).value();
    CHECK(large > 8 * small);
    CHECK(free_run.rehearsal.longest_sentences(1024).sentences == 16);
    CHECK(find_batch(free_run.rehearsal, free_run.config, 0, 2048).tokens == 2048);

    Rehearsed tight(folder);
    tight.backend.limit = tight.backend.memory().live + large;
    const FoundBatch found = find_batch(tight.rehearsal, tight.config, 0, 4096);
    CHECK(found.tokens >= 512);
    CHECK(found.tokens <= 1024);
    CHECK_THAT(found.how, Contains("nine tenths of the ") && Contains(std::to_string(found.tokens)));
    CHECK(tight.rehearsal.memory_of(found.tokens).has_value());

    Rehearsed shared(folder);  // never runs out of memory
    const FoundBatch bounded = find_batch(shared.rehearsal, shared.config, shared.rehearsal.kept_bytes() + large, 4096);
    CHECK(bounded.tokens >= 512);
    CHECK(bounded.tokens <= 1024);

    Rehearsed hopeless(folder);
    hopeless.backend.limit = hopeless.backend.memory().live + small / 4;
    CHECK_THAT(error_of([&] { find_batch(hopeless.rehearsal, hopeless.config, 0, 4096); }),
               Contains("\"training.max_length\" (64)") && Contains("fits in memory"));
}

TEST_CASE("a rehearsal keeps and computes what the training will, for any number of steps", "[batch_size][memory]") {
    const TemporaryFolder folder;
    nlohmann::json settings = write_digits(folder);
    settings["training"]["report_every"] = 1;
    std::array<std::size_t, 2> kept{};
    for (const bool watch : {false, true}) {
        settings["training"]["watch_gradients"] = watch;
        const TrainConfig config = parse_train_config(settings, folder.file("digits.json"), "");
        const auto backend = open_device("cpu");
        StepRehearsal rehearsal(*backend, config, config.model_config(72, 72), Arithmetic{});
        const std::vector parts{rehearsal.longest_sentences(64)};
        for (int step = 0; step < 3; ++step) {
            CHECK_NOTHROW(rehearsal.run(parts));
        }
        kept[watch ? 1 : 0] = rehearsal.kept_bytes();
    }
    CHECK(kept[1] > kept[0]);
}

TEST_CASE("captions may be longer than their pictures", "[batch_size]") {
    const TemporaryFolder folder;
    nlohmann::json settings = write_digits(folder);
    settings["model"]["input"] = {{"kind", "patches"}, {"picture", 4}, {"patch", 2}};
    settings["model"]["embedding"] = {{"tying", "target_output"}};
    settings["tokenizer"]["shared"] = false;
    const TrainConfig config = parse_train_config(settings, folder.file("digits.json"), "");
    const auto backend = open_device("cpu");
    StepRehearsal rehearsal(*backend, config, config.model_config(768, 72), Arithmetic{});
    const Batch batch = rehearsal.longest_sentences(256);
    CHECK(batch.target.length == config.training.max_length);
    CHECK(batch.source.length < batch.target.length);
    CHECK(batch.sentences == 256 / batch.target.length);
}

TEST_CASE("steps that would take long are estimated from small ones", "[dry_run]") {
    const TemporaryFolder folder;
    nlohmann::json settings = write_digits(folder);
    settings["training"]["source_tokens"] = settings["training"]["target_tokens"] = 8192;
    const TrainConfig config = parse_train_config(settings, folder.file("digits.json"), "");
    const auto backend = open_device("cpu");
    StepRehearsal rehearsal(*backend, config, config.model_config(72, 72), Arithmetic{});
    const TypicalStep step{.tokens = 8192, .part_tokens = 8192, .length = 16};
    const StepEstimate estimate = estimate_step(rehearsal, config.training, step, nullptr, 0.0);
    CHECK(estimate.estimated);
    CHECK(estimate.how == "estimated from steps of 128 and 256 tokens");
    const StepEstimate measured = estimate_step(rehearsal, config.training, step, nullptr, 1e9);
    CHECK(!measured.estimated);
    CHECK(measured.how == "mean of 5");
    CHECK(estimate.flops.total() == measured.flops.total());
    CHECK(measured.flops.total() == rehearsal.flops().of(std::vector{rehearsal.sentences(8192, 16)}).total());
    REQUIRE((estimate.bytes && measured.bytes));
    CHECK(static_cast<double>(*estimate.bytes) == Approx(static_cast<double>(*measured.bytes)).epsilon(0.1));
    CHECK(estimate.seconds > 0.0);  // how much depends on what else runs
}

TEST_CASE("without data a dry run has random pieces, and says what the paper's model cost", "[dry_run]") {
    const TemporaryFolder folder;
    nlohmann::json settings = write_digits(folder);
    DigitsRun run(folder, settings, "out");
    const std::string text = describe_training(*run.backend, run.config, nullptr, run.output_folder).text;
    const ModelConfig model = run.config.model_config(72, 72);
    CHECK_THAT(text, Contains(fmt::format("parameters: {}\n", count_parameters(model))) &&
                         Contains("in sentences of 30 pieces") && Contains("about 24 steps by \"steps\": ") &&
                         Contains("FLOPs per step: forward ") &&
                         Contains(" that large products sustain here; time x ") && Contains(" on one K80, ") &&
                         Contains(" on one P100\n"));
    CHECK_THAT(text, !Contains("epoch") && !Contains("in the paper"));
    settings["training"].erase("steps");
    settings["training"]["epochs"] = 3;
    const TrainConfig epochs = parse_train_config(settings, folder.file("digits.json"), "");
    CHECK_THAT(describe_training(*run.backend, epochs, nullptr, "out").text,
               Contains("how many steps depends on the data") && !Contains("in all") && !Contains("estimates costs"));
}

TEST_CASE("a dry run describes model, steps, memory, time and files, and writes nothing", "[dry_run]") {
    const TemporaryFolder folder;
    DigitsRun run(folder, write_digits(folder), "out");
    const TrainingData data = prepare_training_data(run.config, folder.file("tokenizer"), {}, run.hooks.say);
    const std::string text = describe_training(*run.backend, run.config, &data, run.output_folder).text;
    CHECK(!std::filesystem::exists(run.output_folder));
    run.start();
    CHECK_THAT(text, Contains("parameters: " + std::to_string(run.learner->parameters().count()) + "\n") &&
                         Contains("  encoder.layers.0 ") && Contains("  decoder.layers.0 ") &&
                         Contains("  embedding "));
    CHECK_THAT(text, Contains("at most 512 source and 1024 target tokens each") &&
                         Contains("16 sentences of [64] and [64]") && Contains("about 24 steps by \"steps\"") &&
                         Contains("at most 4 of "));
    run.training->train();
    const auto checkpoint = std::filesystem::file_size(run.output_folder + "/checkpoints/step-00000024.safetensors");
    const auto said = static_cast<double>(checkpoint) / 1024.0 / 1024.0;
    CHECK_THAT(text, Contains(fmt::format("at most 4 of {:.1f} MiB each", said)));
}
