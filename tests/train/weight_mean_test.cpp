// The exponential mean of the weights.
#include "train/weight_mean.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "backend/ops/elementwise.h"
#include "tests/train/digits_run.h"

using namespace headscope;
using Catch::Matchers::Contains;

namespace {

nlohmann::json settings_for(const TemporaryFolder& folder) {
    nlohmann::json settings = write_digits(folder);
    settings["training"]["ema_decay"] = 0.9;
    return settings;
}

std::vector<double> mean_in(const DigitsRun& run, std::int64_t step) {
    const Checkpoint checkpoint = Checkpoint::open(CheckpointFolder(run.output_folder + "/checkpoints").file_of(step));
    const Tensor values = run.learner->parameters().flat_values();
    // The mean is read last.
    const CheckpointTensors into{.parameters = values, .first_moment = values, .second_moment = values, .mean = values};
    checkpoint.read(*run.backend, into);
    return to_host<double>(*run.backend, values);
}

}  // namespace

TEST_CASE("the mean follows the weights by its decay, faster in the first steps", "[mean]") {
    const auto backend = open_device("cpu:oracle");
    ModelConfig config;
    config.encoder_layers = config.decoder_layers = 1;
    config.d_model = config.feed_forward.d_ff = 8;
    config.attention.heads = config.attention.d_k = config.attention.d_v = 1;
    config.source_vocabulary = config.target_vocabulary = 8;
    const Parameters parameters(*backend, config, true);
    const Tensor values = parameters.flat_values();
    const auto fill = [&](float value) { backend->run(Fill{.out = values, .value = value}); };
    const auto first = [&](const Tensor& tensor) { return to_host<double>(*backend, tensor).front(); };
    fill(1.0F);
    WeightMean mean(*backend, parameters, 0.5);
    fill(3.0F);
    mean.add(1);  // decay 2/11
    CHECK(first(mean.values()) == Approx(1.0 * 2 / 11 + 3.0 * 9 / 11));
    mean.begin();
    fill(7.0F);
    mean.add(1000);
    CHECK(first(mean.values()) == Approx(5.0));
    mean.swap();
    CHECK(first(values) == Approx(5.0));
    CHECK(first(mean.values()) == Approx(7.0));
    mean.swap();
    CHECK(first(values) == 7.0);
}

TEST_CASE("constant weights are their own mean", "[mean]") {
    const TemporaryFolder folder;
    nlohmann::json settings = settings_for(folder);
    settings["training"]["ema_decay"] = 0.999;
    settings["training"]["learning_rate_scale"] = 0.0;
    DigitsRun run(folder, settings, "out");
    run.start().train();
    const std::vector<double> weights = run.weights();
    const std::vector<double> mean = mean_in(run, 24);
    for (std::size_t i = 0; i < weights.size(); ++i) {
        REQUIRE(mean[i] == Approx(weights[i]).epsilon(1e-5));
    }
}

TEST_CASE("the mean does not change the weights, is validated, and survives a stop bit for bit", "[mean][resume]") {
    const TemporaryFolder folder;
    DigitsRun without(folder, write_digits(folder), "without");
    without.start().train();
    const nlohmann::json settings = settings_for(folder);
    DigitsRun unbroken(folder, settings, "unbroken");
    unbroken.start().train();
    CHECK(unbroken.weights() == without.weights());
    const auto validations = logged(unbroken.output_folder, "validation");
    REQUIRE(validations.size() == 3);
    CHECK(validations.back()["mean_nll"] != validations.back()["nll"]);

    const auto resumed = stopped_and_finished(folder, settings, "broken", 11);
    const DigitsRun& second = *resumed;
    CHECK(second.weights() == unbroken.weights());
    CHECK(logged(second.output_folder, "validation") == validations);
    CHECK(mean_in(second, 24) == mean_in(unbroken, 24));
}

TEST_CASE("the model is the mean only if that does better", "[mean]") {
    const TemporaryFolder folder;
    nlohmann::json settings = settings_for(folder);
    settings["training"]["average_last"] = 1;
    settings["training"]["learning_rate_scale"] = 6.0;  // large steps
    settings["training"]["warmup_steps"] = 4;
    settings["training"]["steps"] = 80;
    DigitsRun run(folder, settings, "out");
    run.start().train();
    run.training->write_model(run.output_folder + "/model");
    const auto model = logged(run.output_folder, "model").back();
    CHECK_THAT(model["origin"].get<std::string>(), Contains("exponential mean of the weights"));
    const auto validation = logged(run.output_folder, "validation").back();
    CHECK(validation["mean_nll"] < validation["nll"]);
    CHECK(model["nll"] <= validation["mean_nll"]);

    settings["training"]["ema_decay"] = 0.9999;
    settings["training"]["learning_rate_scale"] = 1.0;
    settings["training"]["warmup_steps"] = 40;
    settings["training"]["steps"] = 24;
    DigitsRun slow(folder, settings, "slow");
    slow.start().train();
    slow.training->write_model(slow.output_folder + "/model");
    CHECK_THAT(logged(slow.output_folder, "model").back()["origin"].get<std::string>(),
               Contains("the checkpoint after step 24, validation nll") && !Contains("exponential"));
    const std::vector<double> last = slow.weights();
    CHECK(last != mean_in(slow, 24));
}

TEST_CASE("without validation text the model is the mean", "[mean]") {
    const TemporaryFolder folder;
    nlohmann::json settings = settings_for(folder);
    settings["data"].erase("valid");
    DigitsRun run(folder, settings, "out");
    run.start().train();
    run.training->write_model(run.output_folder + "/model");
    CHECK_THAT(run.said, Contains("out/model: the exponential mean of the weights after step 24 (\"ema_decay\" 0.9)"));
    const std::vector<double> model = run.weights();
    CHECK(model == mean_in(run, 24));
    settings["training"]["ema_decay"] = 0.8;
    DigitsRun other(folder, settings, "out");
    CHECK_THAT(error_of([&] { other.start(true); }), Contains("\"training.ema_decay\" was 0.9 and is now 0.8"));
}
