// The same training on every device gives nearly the same loss curve.
#include <catch2/catch.hpp>
#include <utility>

#include "small_model.h"
#include "tests/ops/devices.h"
#include "training.h"

using namespace headscope;

namespace {

constexpr int kSteps = 60;
// Only rounding differs, since dropout uses the same bits everywhere: single and double precision were measured 1e-6
// apart. A wrong gradient changes the first digits.
constexpr double kBound = 1e-5;

ModelConfig copy_config() {
    ModelConfig config = small_config();
    config.d_model = 32;
    config.feed_forward.d_ff = 64;
    config.attention.heads = 4;
    config.attention.d_k = config.attention.d_v = 8;
    config.encoder_layers = 1;
    config.source_vocabulary = config.target_vocabulary = 24;
    return config;
}

struct Curve {
    std::vector<double> losses;  // smoothed, for each target token
};

// Learns to copy its input, with dropout, from the same batches on every device.
Curve train(const std::string& device, DType storage = DType::F32) {
    SmallModel model(copy_config(), device, true, storage);
    // A slow warm-up: at higher rates training is chaotic and amplifies rounding at every step.
    AdamForTests adam(*model.backend, model.parameters, 200, model.config.d_model);
    Regularisation rates{.residual = 0.1F, .embedding = 0.1F, .attention = 0.1F, .activation = 0.1F, .seed = 11};
    Random random(21);
    LossOptions options{.chunk_rows = 50};
    if (storage == DType::F16) {  // Adam divides by the mean square: the scale only prevents underflow
        options.gradient_scale = make_from_host<double>(*model.backend, {1}, DType::F32, {AdamForTests::kLossScale});
        adam.scale_loss();
    }
    Curve curve;
    for (std::int32_t step = 1; step <= kSteps; ++step) {
        std::vector<Example> pairs;
        for (int i = 0; i < 12; ++i) {
            const std::vector<std::int32_t> pieces =
                random_pieces(random, 2 + static_cast<std::int64_t>(random.below(5)), model.config.source_vocabulary);
            pairs.push_back({pieces, pieces});
        }
        const DeviceBatch batch = model.batch(pairs);
        rates.step = make_from_host(*model.backend, {1}, DType::I32, std::vector<std::int32_t>{step});
        model.parameters.forget_gradients();
        const double loss = model.loss(batch, options, rates, true);
        adam.step(batch.predicted.count);
        curve.losses.push_back(loss / static_cast<double>(batch.predicted.count));
    }
    return curve;
}

}  // namespace

TEST_CASE("training follows the oracle's loss curve on every device, with dropout") {
    const Curve oracle = train("cpu:oracle");
    CHECK(oracle.losses.back() < oracle.losses.front() - 0.5);  // it learns
    for (const std::string& device : conformance::devices_under_test()) {
        const Curve curve = train(device);
        double worst = 0.0;
        for (std::size_t step = 0; step < curve.losses.size(); ++step) {
            worst = std::max(worst, std::abs(curve.losses[step] - oracle.losses[step]));
        }
        INFO(device << ": largest difference of the loss for a token " << worst);
        CHECK(worst < kBound);
        CHECK(train(device).losses == curve.losses);  // and repeats bit for bit
    }
}

TEST_CASE("training in 16 bits with F32 masters stays near the oracle", "[storage]") {
    const Curve oracle = train("cpu:oracle");
    // Activations and weights are rounded to 8 or 11 bits; the errors average out over a batch. The bounds are about
    // three times the measured distances.
    constexpr std::pair<DType, double> kBounds[] = {{DType::BF16, 0.01}, {DType::F16, 0.006}};
    for (const std::string& device : conformance::devices_with_storage()) {
        for (const auto& [storage, bound] : kBounds) {
            const Curve curve = train(device, storage);
            double worst = 0.0;
            for (std::size_t step = 0; step < curve.losses.size(); ++step) {
                worst = std::max(worst, std::abs(curve.losses[step] - oracle.losses[step]));
            }
            INFO(device << " in " << name_of(storage) << ": largest difference of the loss for a token " << worst);
            CHECK(worst < bound);
            CHECK(worst > 1e-6);  // it is not F32
            CHECK(train(device, storage).losses == curve.losses);
        }
    }
}
