// Opens models and trainings, also while they change.
#include <catch2/catch.hpp>

#include <filesystem>

#include <fmt/format.h>

#include "explore/explorer.h"
#include "tests/house/open_options.h"
#include "tests/ops/devices.h"
#include "tests/train/digits_run.h"
#include "train/model_source.h"

using namespace headscope;
using Catch::Matchers::Contains;

namespace {

// A run of 24 steps with checkpoints 8, 16 and 24, and the model.
struct LoadedRun {
    LoadedRun() {
        DigitsRun run(folder, write_digits(folder), "out");
        run.start().train();
        run.training->write_model(folder.file("out/model"));
        last_weights = run.weights();
    }
    std::string file(const std::string& name) const { return folder.file("out/" + name); }
    std::string checkpoint(int step) const { return file(fmt::format("checkpoints/step-{:08}.safetensors", step)); }

    TemporaryFolder folder;
    std::vector<double> last_weights;
};

Exploration look(Backend& backend, const LoadedModel& translator) {
    return Explorer(backend, translator, Compute::F32).explore({.source = "12 7"});
}

}  // namespace

TEST_CASE("A training's checkpoints are models", "[source]") {
    const LoadedRun run;
    const std::unique_ptr<Backend> backend = open_device("cpu");
    const ModelSource source = ModelSource::at(run.folder.file("out"));
    CHECK(source.kind() == ModelSource::Kind::Training);
    CHECK(source.run().checkpoints == std::vector<std::int64_t>{8, 16, 24});

    const ModelSource::Loaded newest = source.load(*backend, std::nullopt, DType::F32);
    CHECK(newest.step == 24);
    CHECK(to_host<double>(*backend, newest.translator->parameters().flat_values()) == run.last_weights);
    const Exploration now = look(*backend, *newest.translator);
    CHECK(now.problem.empty());
    CHECK(now.record.sites.size() == 3);
    const ModelSource::Loaded earlier = source.load(*backend, 8, DType::F32);
    CHECK(earlier.step == 8);
    CHECK(look(*backend, *earlier.translator).log_probability != now.log_probability);
    CHECK(earlier.translator->model().path == run.checkpoint(8));

    const ModelSource model = ModelSource::at(run.file("model"));
    CHECK(model.kind() == ModelSource::Kind::Model);
    CHECK(look(*backend, *model.load(*backend, std::nullopt, DType::F32).translator).problem.empty());
    CHECK_THAT(error_of([&] { model.load(*backend, 8, DType::F32); }), Contains("no checkpoint after step 8"));
}

TEST_CASE("A training without checkpoints is read as the model that it wrote", "[source]") {
    const LoadedRun run;
    std::filesystem::remove_all(run.file("checkpoints"));
    const std::unique_ptr<Backend> backend = open_device("cpu");
    const ModelSource source = ModelSource::at(run.folder.file("out"));
    CHECK(source.kind() == ModelSource::Kind::Model);
    CHECK(source.load(*backend, std::nullopt, DType::F32).translator->model().path == run.file("model"));
}

TEST_CASE("A checkpoint can be opened in another precision", "[source]") {
    const LoadedRun run;
    const std::unique_ptr<Backend> oracle = open_device("cpu:oracle");
    const ModelSource::Loaded loaded = ModelSource::at(run.folder.file("out")).load(*oracle, std::nullopt, DType::F32);
    CHECK(to_host<double>(*oracle, loaded.translator->parameters().flat_values()) == run.last_weights);
    CHECK(look(*oracle, *loaded.translator).problem.empty());
}

TEST_CASE("A checkpoint can be opened in 16 bits", "[source][storage]") {
    const LoadedRun run;
    const ModelSource source = ModelSource::at(run.folder.file("out"));
    const std::unique_ptr<Backend> cpu = open_device("cpu");
    ExploreRequest request{.source = "12 7", .target = "twelve"};
    const auto read = [&](Backend& backend, DType storage) {
        const ModelSource::Loaded loaded = source.load(backend, std::nullopt, storage);
        return Explorer(backend, *loaded.translator, Compute::F32).explore(request).log_probability;
    };
    const double exact = read(*cpu, DType::F32);
    for (const std::string& device : conformance::devices_with_storage()) {
        const std::unique_ptr<Backend> backend = open_device(device, environment_options());
        CHECK(read(*backend, DType::BF16) == Approx(exact).epsilon(0.01));
        CHECK(read(*backend, DType::F16) == Approx(exact).epsilon(0.001));
    }
}

TEST_CASE("A training's log is read as a curve, ignoring other lines", "[source]") {
    const TemporaryFolder folder;
    std::filesystem::create_directories(folder.file("run/checkpoints"));
    const ModelSource source = ModelSource::at(folder.file("run"));
    CHECK(source.run().training.empty());
    folder.write("run/log.jsonl",
                 "{\"kind\": \"train\", \"step\": 10, \"loss\": 3.5, \"nll\": 3.25}\n"
                 "{\"kind\": \"validation\", \"step\": 10, \"loss\": 3.0, \"nll\": 2.5}\n"
                 "{\"kind\": \"train\", \"step\": \"?\"}\n[1]\n\n"
                 "{\"kind\": \"train\", \"step\": 20, \"loss\": null, \"nll\": 3.0}\n"
                 "{\"kind\": \"model\", \"step\": 20, \"nll\": 1.0}\n{\"kind\": \"tra");
    const TrainingRun curve = source.run();
    REQUIRE(curve.training.size() == 2);
    CHECK(curve.training[0].step == 10);
    CHECK(curve.training[0].loss == 3.5);
    CHECK(curve.training[0].nll == 3.25);
    CHECK(std::isnan(curve.training[1].loss));
    REQUIRE(curve.validation.size() == 1);
    CHECK(curve.validation[0].nll == 2.5);
}

TEST_CASE("Errors name what is missing, damaged or removed", "[source]") {
    const LoadedRun run;
    const std::unique_ptr<Backend> backend = open_device("cpu");
    const auto load = [&](std::optional<std::int64_t> step) {
        return error_of([&] { ModelSource::at(run.folder.file("out")).load(*backend, step, DType::F32); });
    };
    CHECK_THAT(error_of([&] { ModelSource::at(run.folder.file("nowhere")); }), Contains("does not exist"));
    CHECK_THAT(error_of([&] { ModelSource::at(run.folder.file("train.tsv")); }), Contains("holds no model"));
    CHECK_THAT(error_of([&] { ModelSource::at(run.file("tokenizer")); }), Contains("holds no model"));
    CHECK_THAT(load(9), Contains("no checkpoint after step 9") && Contains("8, 16, 24"));

    std::filesystem::resize_file(run.checkpoint(24), 5000);
    CHECK_THAT(load(24), Contains("step-00000024"));
    const ModelSource source = ModelSource::at(run.folder.file("out"));
    CHECK(source.load(*backend, std::nullopt, DType::F32).step == 16);
    std::filesystem::remove(run.file("tokenizer/sentencepiece.model"));
    CHECK_THAT(load(16), Contains("tokenizer' lacks tokenizers") && Contains("source.model"));
    std::filesystem::remove_all(run.file("checkpoints"));
    CHECK(source.run().checkpoints.empty());  // a finished training may keep only its model
    std::filesystem::remove_all(run.file("model"));
    CHECK_THAT(error_of([&] { source.run(); }), Contains("gone"));
    CHECK_THAT(error_of([&] { source.load(*backend, std::nullopt, DType::F32); }), Contains("gone"));
    CHECK_FALSE(std::filesystem::exists(run.file("checkpoints")));  // reading does not create it
    std::filesystem::create_directories(run.file("checkpoints"));
    CHECK_THAT(error_of([&] { source.load(*backend, std::nullopt, DType::F32); }),
               Contains("no intact checkpoint yet"));
}

TEST_CASE("A model removed while in use continues to work, and is missing when opened again", "[source]") {
    const LoadedRun run;
    const std::unique_ptr<Backend> backend = open_device("cpu");
    const ModelSource source = ModelSource::at(run.file("model"));
    const ModelSource::Loaded loaded = source.load(*backend, std::nullopt, DType::F32);
    std::filesystem::remove_all(run.file("model"));
    CHECK(look(*backend, *loaded.translator).problem.empty());
    CHECK_THAT(error_of([&] { source.load(*backend, std::nullopt, DType::F32); }), Contains("does not exist"));
}
