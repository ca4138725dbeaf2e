// The memory of a training step grows with the length of long sentences, not with its square.
#include <catch2/catch.hpp>

#include "small_model.h"
#include "tests/ops/devices.h"
#include "tests/ops/long_lengths.h"
#include "training.h"

using namespace headscope;

namespace {

struct Step {
    double loss;
    double peak;  // bytes
};

// Two steps of the paper's model with every dropout, so that gradients of the first are there during the second.
Step train(const std::string& device, std::int64_t length) {
    ModelConfig config = small_config();
    config.encoder_layers = 1;
    config.attention.heads = 1;
    config.attention.d_k = config.attention.d_v = 8;
    config.max_length = length;
    SmallModel model(config, device);
    AdamForTests adam(*model.backend, model.parameters, 200, config.d_model);
    Random random(5);
    const std::vector<std::int32_t> pieces = random_pieces(random, length - 1, config.source_vocabulary);
    const DeviceBatch batch = model.batch({{pieces, pieces}});
    double loss = 0.0;
    for (int step = 0; step < 2; ++step) {
        model.parameters.forget_gradients();
        loss = model.loss(batch, {.chunk_rows = 128}, all_dropouts(*model.backend), true);
        adam.step(batch.predicted.count);
    }
    return {loss / static_cast<double>(length), static_cast<double>(model.backend->memory().peak)};
}

}  // namespace

TEST_CASE("the memory of training grows with the length of long sentences", "[long]") {
    for (const std::string& device : conformance::devices_under_test()) {
        const std::int64_t length = conformance::long_length_on(device);
        const Step one = train(device, length);
        const Step twice = train(device, 2 * length);
        const double growth = conformance::growth_of(train(device, conformance::kFewTokens).peak, one.peak, twice.peak);
        INFO(device << ": " << growth);
        CHECK(growth > conformance::kLeastGrowth);
        CHECK(growth < conformance::kMostGrowth);
        CHECK(one.loss > 0.0);
        CHECK(twice.loss == Approx(one.loss).margin(0.5));
    }
}
