// Training in 16 bits: compared with F32, with overflows, across stops and devices.
#include <catch2/catch.hpp>
#include <cmath>
#include <nlohmann/json.hpp>

#include "backend/convert.h"
#include "backend/ops/elementwise.h"
#include "backend/precision.h"
#include "model/model_directory.h"
#include "tests/ops/devices.h"
#include "tests/train/digits_run.h"
#include "train/text_tasks.h"

using namespace headscope;
using Catch::Matchers::Contains;

namespace {

// A few small steps, for emulated devices.
nlohmann::json settings_for(const TemporaryFolder& folder, const char* precision, std::int64_t steps,
                            const std::string& task = "translate") {
    nlohmann::json settings = write_digits(folder);
    if (task == "masked") {
        std::string text;
        for (const TextTaskLine& line : make_cloze_task(200, 1)) {
            text += line.text + "\n";
        }
        folder.write("train.txt", text);
        settings["data"] = {{"train", {{"text", "train.txt"}}}};
        settings["model"].erase("decoder_layers");
        settings["model"]["token_types"] = 2;
    }
    settings["task"] = task;
    settings["training"]["precision"] = precision;
    settings["training"]["steps"] = steps;
    settings["training"]["source_tokens"] = 128;
    settings["training"]["target_tokens"] = task == "masked" ? 768 : 192;  // which predicts few of them
    settings["training"]["report_every"] = 1;
    settings["training"]["validate_every"] = 0;
    settings["training"]["checkpoint_every"] = 1000;
    return settings;
}

std::vector<double> numbers(const DigitsRun& run, const char* key) {
    std::vector<double> found;
    for (const nlohmann::json& line : logged(run.output_folder, "train")) {
        found.push_back(line.at(key).get<double>());
    }
    return found;
}

double worst_distance(const std::vector<double>& a, const std::vector<double>& b) {
    REQUIRE(a.size() == b.size());
    double worst = 0.0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        worst = std::max(worst, std::abs(a[i] - b[i]));
    }
    return worst;
}

}  // namespace

TEST_CASE("f16 on a device without 16-bit storage is an error that names the key", "[precision]") {
    const TemporaryFolder folder;
    DigitsRun run(folder, settings_for(folder, "f16", 2), "out", "cpu");
    CHECK_THAT(error_of([&] { run.start(); }),
               Contains("digits.json: \"training.precision\" (--precision) f16: cpu has no F16 storage (it computes in "
                        "F32 alone): use f32, or choose another --device"));
}

TEST_CASE("bf16 on a device without fast BF16 products is an error with a suggestion", "[precision]") {
    const TemporaryFolder folder;
    nlohmann::json settings = write_digits(folder);
    settings["training"]["compute"] = "bf16";
    DigitsRun run(folder, settings, "out", "cpu:oracle");
    CHECK_THAT(error_of([&] { run.start(); }),
               Contains("\"training.compute\": cpu:oracle has no fast BF16 products") && Contains("(--precision f32)"));
}

TEST_CASE("bf16 and f16 follow f32 and repeat bit for bit", "[precision][storage]") {
    const std::string task = GENERATE("translate", "masked");
    INFO(task);
    const TemporaryFolder folder;
    constexpr std::int64_t kSteps = 12;
    DigitsRun exact(folder, settings_for(folder, "f32", kSteps, task), "exact", "cpu");
    exact.start().train();
    for (const std::string& device : conformance::devices_with_storage()) {
        // The loss is about 4.3 per token; a third of these bounds was measured.
        for (const auto& [precision, bound] : {std::pair{"bf16", 0.005}, std::pair{"f16", 0.002}}) {
            const std::string name = device + precision;
            DigitsRun run(folder, settings_for(folder, precision, kSteps, task), name, device);
            run.start().train();
            const double worst = worst_distance(numbers(run, "loss"), numbers(exact, "loss"));
            INFO(name << ": the loss is " << worst << " away at most");
            CHECK(worst < bound);
            CHECK(worst > 1e-6);
            CHECK(worst_distance(numbers(run, "gradient_norm"), numbers(exact, "gradient_norm")) < 0.1);
            CHECK(logged(run.output_folder, "train").front().contains("loss_scale") ==
                  (run.said.find("scale") != std::string::npos));
            DigitsRun again(folder, settings_for(folder, precision, kSteps, task), name + " again", device);
            again.start().train();
            CHECK(again.weights() == run.weights());
        }
    }
}

TEST_CASE("a loss scale that starts too high falls until steps succeed", "[precision][storage]") {
    for (const std::string& device : conformance::devices_with_storage()) {
        const TemporaryFolder folder;
        nlohmann::json settings = settings_for(folder, "f16", 24);
        settings["training"]["loss_scale"] = 16777216.0;
        settings["training"]["loss_scale_interval"] = 4;
        settings["training"]["loss_scale_most"] = 16777216.0;
        DigitsRun run(folder, settings, "out", device);
        run.start();
        const std::vector<double> start = run.weights();
        CHECK(run.training->train() == RunEnd::Finished);
        const std::vector<double> scales = numbers(run, "loss_scale");
        const std::vector<double> skipped = numbers(run, "skipped");
        INFO(device << ", last scale " << scales.back());
        CHECK(skipped[0] == 1.0);
        CHECK(scales[0] == 8388608.0);
        std::size_t first_good = 0;
        while (first_good < skipped.size() && skipped[first_good] == 1.0) {
            CHECK(scales[first_good] == std::ldexp(1.0, 23 - static_cast<int>(first_good)));
            ++first_good;
        }
        CHECK(first_good >= 5);
        REQUIRE(first_good < 16);
        // After four good steps the scale doubles, and halves again if that is too much.
        CHECK(scales[first_good + 3] == 2 * scales[first_good]);
        CHECK(run.weights() != start);
        CHECK(numbers(run, "loss").back() < numbers(run, "loss")[first_good]);
    }
}

TEST_CASE("a run ends if all steps are skipped at the smallest loss scale", "[precision][storage]") {
    for (const std::string& device : conformance::devices_with_storage()) {
        const TemporaryFolder folder;
        nlohmann::json settings = settings_for(folder, "f16", 40);
        settings["training"]["loss_scale"] = 8.0;
        settings["training"]["divergence_returns"] = 0;
        DigitsRun run(folder, settings, "out", device);
        run.hooks.stop_requested = [&] {
            if (run.training->step() == 2) {
                run.backend->run(Fill{.out = run.learner->parameters().flat_working(), .value = 60000.0F});
            }
            return false;
        };
        run.start();
        // One skipped step each at 8, 4 and 2, then ten at 1.
        CHECK_THAT(error_of([&] { run.training->train(); }),
                   Contains("step 15:") && Contains("last 13 steps") && Contains("a loss scale of 1:") &&
                       Contains("cannot continue from the weights after step 2"));
    }
}

TEST_CASE("a run in f16 resumes bit for bit, including the loss scale", "[precision][storage]") {
    for (const std::string& device : conformance::devices_with_storage()) {
        const TemporaryFolder folder;
        nlohmann::json settings = settings_for(folder, "f16", 12);
        settings["training"]["loss_scale"] = 1024.0;
        settings["training"]["loss_scale_interval"] = 3;
        DigitsRun unbroken(folder, settings, "unbroken", device);
        unbroken.start().train();
        DigitsRun first(folder, settings, "out", device);
        first.hooks.stop_requested = stop_after(5);  // two good steps after the first three
        CHECK(first.start().train() == RunEnd::Stopped);
        DigitsRun second(folder, settings, "out", device);
        CHECK(second.start(true).step() == 5);
        second.training->train();
        CHECK(second.weights() == unbroken.weights());
        CHECK(numbers(second, "loss_scale") == numbers(unbroken, "loss_scale"));
        CHECK(numbers(second, "loss_scale").back() == 16384.0);
        CHECK(numbers(second, "loss") == numbers(unbroken, "loss"));
    }
}

TEST_CASE("a checkpoint can be resumed in another precision and on another device", "[precision][storage]") {
    for (const std::string& device : conformance::devices_with_storage()) {
        const TemporaryFolder folder;
        struct Leg {
            std::string device;
            const char* precision;
        };
        std::int64_t steps = 0;
        double loss = 10.0;
        std::vector<double> weights;
        for (const Leg& leg : {Leg{"cpu", "f32"}, Leg{device, "f16"}, Leg{device, "bf16"}, Leg{"cpu", "f32"}}) {
            const bool first = steps == 0;
            steps += 12;
            INFO(leg.device << " in " << leg.precision);
            DigitsRun run(folder, settings_for(folder, leg.precision, steps), "out", leg.device);
            run.start(!first);
            if (!first) {
                CHECK(run.weights() == weights);
                CHECK_THAT(run.said,
                           Contains("warning: the run began on ") && Contains("will not be those of an uninterrupted"));
            }
            CHECK(run.training->train() == RunEnd::Finished);
            CHECK(numbers(run, "loss").back() < loss);
            loss = numbers(run, "loss").back();
            weights = run.weights();
        }
    }
}

TEST_CASE("the model of a 16-bit run is the mean of master weights, and validation uses it", "[precision][storage]") {
    for (const std::string& device : conformance::devices_with_storage()) {
        const TemporaryFolder folder;
        nlohmann::json settings = settings_for(folder, "bf16", 3);
        settings["training"]["checkpoint_every"] = 1;  // two are averaged
        DigitsRun run(folder, settings, "out", device);
        run.start().train();
        run.training->write_model(run.output_folder + "/model");
        const ModelDirectory model = open_model_directory(run.output_folder + "/model");
        Parameters saved(*run.backend, model.config, false);
        load_parameters(*run.backend, *own_weights(model.path + "/model.safetensors"), saved);
        for (const ParameterSpec& spec : saved.table()) {
            CHECK(to_host<float>(*run.backend, saved.at(spec.name).value()) ==
                  to_host<float>(*run.backend, run.learner->parameters().stored(spec.name)));
            const Tensor working = run.learner->parameters().at(spec.name).value();
            std::vector<float> rounded = to_host<float>(*run.backend, saved.at(spec.name).value());
            for (float& value : rounded) {
                value = rounded_to(working.dtype, value);
            }
            CHECK(to_host<float>(*run.backend, working) == rounded);
        }
    }
}
