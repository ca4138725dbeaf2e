// Steps whose gradient is not finite: Adam must be as if they had not been.
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "backend/forwarding_backend.h"
#include "backend/ops/elementwise.h"
#include "backend/ops/optimizer.h"
#include "tests/model/small_model.h"
#include "tests/train/digits_run.h"
#include "train/optimizer.h"

using namespace headscope;
using Catch::Matchers::Contains;

namespace {

// A device on which the gradients of the first steps overflow.
class OverflowingBackend final : public ForwardingBackend {
public:
    OverflowingBackend(std::unique_ptr<Backend> inner, int steps) : ForwardingBackend(std::move(inner)), left_(steps) {}
    using ForwardingBackend::run;
    void run(const StepControl& op) override {
        if (left_-- > 0) {
            ForwardingBackend::run(Fill{.out = op.square_sum, .value = std::numeric_limits<float>::infinity()});
        }
        ForwardingBackend::run(op);
    }

private:
    int left_;
};

void overflow(DigitsRun& run, int steps) {
    run.backend = std::make_unique<OverflowingBackend>(std::move(run.backend), steps);
}

nlohmann::json short_run(const TemporaryFolder& folder) {
    nlohmann::json settings = write_digits(folder);
    settings["data"].erase("valid");
    settings["training"]["steps"] = 12;
    settings["training"]["checkpoint_every"] = 6;
    settings["training"]["divergence_returns"] = 0;
    return settings;
}

}  // namespace

TEST_CASE("skipped steps do not count in Adam's corrections, as with PyTorch's GradScaler", "[optimizer][by_hand]") {
    for (const char* device : {"cpu", "cpu:oracle"}) {
        for (const int skipped : {0, 1, 5}) {
            INFO(device << ", " << skipped << " skipped");
            const std::unique_ptr<Backend> backend = open_device(device);
            const Parameters parameters(*backend, small_config(), true);
            const auto fill = [&](const Tensor& tensor, float value) {
                backend->run(Fill{.out = tensor, .value = value});
            };
            const auto weight = [&] { return to_host<double>(*backend, parameters.flat_values())[0]; };
            constexpr double kRate = 0.125;
            constexpr float kFirst = 3.0F;
            constexpr float kSecond = -1.0F;
            Optimizer optimizer(*backend, parameters, {.beta1 = 0.5F, .beta2 = 0.75F});
            fill(parameters.flat_values(), 1.0F);
            fill(parameters.flat_gradients(), std::numeric_limits<float>::infinity());
            for (int step = 0; step < skipped; ++step) {
                optimizer.step(kRate, 1);
                CHECK(weight() == 1.0);
            }
            // Kingma & Ba, algorithm 1, with t = 1: the corrected moments are g and g^2.
            fill(parameters.flat_gradients(), kFirst);
            optimizer.step(kRate, 1);
            CHECK(weight() == Approx(1.0 - kRate).epsilon(1e-6));
            // t = 2: m = (0.5 * 0.5 * 3 - 0.5) / 0.75, v = (0.75 * 0.25 * 9 + 0.25) / 0.4375.
            fill(parameters.flat_gradients(), kSecond);
            optimizer.step(kRate, 1);
            const double moved = kRate * (0.25 / 0.75) / std::sqrt(1.9375 / 0.4375);
            CHECK(weight() == Approx(1.0 - kRate - moved).epsilon(1e-6));
            CHECK(to_host<double>(*backend, optimizer.scalars())[StepScalars::Updates] == 2.0);
        }
    }
}

TEST_CASE("a run that skipped steps resumes bit for bit", "[trainer]") {
    const TemporaryFolder folder;
    const nlohmann::json settings = short_run(folder);
    DigitsRun unbroken(folder, settings, "unbroken");
    overflow(unbroken, 3);
    unbroken.start().train();
    {
        DigitsRun first(folder, settings, "broken");
        overflow(first, 3);
        first.hooks.stop_requested = stop_after(6);
        CHECK(first.start().train() == RunEnd::Stopped);
    }
    DigitsRun second(folder, settings, "broken");
    second.start(true).train();
    CHECK(second.weights() == unbroken.weights());
    const CheckpointFolder checkpoints(second.output_folder + "/checkpoints");
    CHECK(Checkpoint::open(checkpoints.file_of(12)).state()["updates"] == 9);
}
