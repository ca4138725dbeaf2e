// A training of several steps follows the losses of PyTorch in float64 (tests/golden/make_training_losses.py), in every
// storage, with a model that is wide enough for the kernels of tensor cores.
#include <catch2/catch.hpp>
#include <cmath>
#include <nlohmann/json.hpp>

#include "hashed_numbers.h"
#include "io/whole_file.h"
#include "small_model.h"
#include "tests/house/files.h"
#include "tests/ops/devices.h"
#include "training.h"

using namespace headscope;

namespace {

std::vector<Example> texts(const std::vector<std::int32_t>& lengths) {
    std::vector<Example> pairs;
    for (std::int32_t row = 0; row < std::ssize(lengths); ++row) {
        Example& pair = pairs.emplace_back();
        for (std::int32_t i = 0; i < lengths[static_cast<std::size_t>(row)]; ++i) {
            pair.source.push_back(4 + (7 * i + 5 * row + i * i) % 60);
            pair.target.push_back(4 + (11 * i + 3 * row + 2 * i * i) % 60);
        }
    }
    return pairs;
}

const nlohmann::json& vectors() {
    static const nlohmann::json read = [] {
        const std::string file = checkout_file("tests/golden/training_losses.json");
        return nlohmann::json::parse(read_whole_file(file, file));
    }();
    return read;
}

// Before each step, and after the last.
std::vector<double> losses_on(const std::string& device, DType storage) {
    const nlohmann::json& from = vectors();
    SmallModel model(parse_model_config(from.at("config"), "training_losses.json"), device, true, storage);
    set_hashed_parameters(model.parameters);
    const DeviceBatch batch = model.batch(texts(from.at("pieces").get<std::vector<std::int32_t>>()));
    AdamForTests adam(*model.backend, model.parameters, from.at("warmup"), model.config.d_model);
    LossOptions options{.epsilon = from.at("epsilon"), .smoothing = Smoothing::AllClasses, .chunk_rows = 50};
    if (storage == DType::F16) {
        options.gradient_scale = make_from_host<double>(*model.backend, {1}, DType::F32, {AdamForTests::kLossScale});
        adam.scale_loss();
    }
    std::vector<double> losses;
    for (std::size_t step = 0; step < from.at("losses_per_token").size(); ++step) {
        model.parameters.forget_gradients();
        losses.push_back(model.loss(batch, options, {}, true) / static_cast<double>(batch.predicted.count));
        adam.step(batch.predicted.count);
    }
    return losses;
}

double worst_of(const std::vector<double>& found) {
    const auto expected = vectors().at("losses_per_token").get<std::vector<double>>();
    REQUIRE(found.size() == expected.size());
    double worst = 0.0;
    for (std::size_t step = 0; step < found.size(); ++step) {
        worst = std::max(worst, std::abs(found[step] - expected[step]) / expected[step]);
    }
    return worst;
}

}  // namespace

// The bounds are three times what was measured, or more.
TEST_CASE("training follows PyTorch's losses in F32", "[training_losses]") {
    for (const std::string& device : conformance::devices_under_test()) {
        const double worst = worst_of(losses_on(device, DType::F32));
        INFO(device << ": at most " << worst << " of the loss away");
        CHECK(worst < 5e-6);
    }
}

TEST_CASE("training in 16 bits follows PyTorch's losses and repeats to the bit", "[training_losses][storage]") {
    for (const std::string& device : conformance::devices_with_storage()) {
        for (const auto& [storage, bound] : {std::pair{DType::BF16, 1e-3}, std::pair{DType::F16, 1e-3}}) {
            const std::vector<double> losses = losses_on(device, storage);
            const double worst = worst_of(losses);
            INFO(device << " in " << name_of(storage) << ": at most " << worst << " of the loss away");
            CHECK(worst < bound);
            CHECK(worst > 1e-6);  // it is not F32
            CHECK(losses_on(device, storage) == losses);
        }
    }
}
