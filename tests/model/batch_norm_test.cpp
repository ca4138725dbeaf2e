// What batch norm changes of a model: its passes depend on the batch in training, and on its history after it.
#include <catch2/catch.hpp>
#include <cmath>

#include "small_model.h"

using namespace headscope;

namespace {

ModelConfig normed_by_batch() {
    ModelConfig config = small_config();
    config.norm.type = NormType::Batch;
    return config;
}

// A pass in which batch norms measure, without dropout.
Regularisation training_pass(Backend& backend) {
    Regularisation rates;
    rates.step = make_from_host(backend, {1}, DType::I32, std::vector<std::int32_t>{1});
    return rates;
}

std::vector<double> running_values(SmallModel& model) {
    std::vector<double> all;
    for (const ParameterSpec& spec : model.parameters.table()) {
        if (!spec.trained) {
            const std::vector<double> values = model.host(model.parameters.at(spec.name).value());
            all.insert(all.end(), values.begin(), values.end());
        }
    }
    return all;
}

}  // namespace

TEST_CASE("padding does not change what a batch norm measures") {
    SmallModel model(normed_by_batch(), "cpu:oracle");
    const std::vector<Example> pairs = random_pairs(model.config, 4, 3);
    const auto padded = [&](std::int64_t multiple) {
        return upload(*model.backend,
                      make_batch(std::span<const Example>(pairs), frame_of(model.config), 0, {.multiple = multiple}));
    };
    const Regularisation rates = training_pass(*model.backend);
    const double expected = model.loss(padded(1), {}, rates, false);
    CHECK(model.loss(padded(16), {}, rates, false) == Approx(expected).epsilon(1e-12));
}

TEST_CASE("in training a batch norm depends on the batch, afterwards on what it has seen") {
    SmallModel model(normed_by_batch(), "cpu:oracle");
    const std::vector<Example> pairs = random_pairs(model.config, 4, 3);
    const std::vector<Example> first(pairs.begin(), pairs.begin() + 2);
    const std::vector<Example> second(pairs.begin() + 2, pairs.end());
    const auto parts = [&](const Regularisation& rates) {
        return model.loss(model.batch(first), {}, rates, false) + model.loss(model.batch(second), {}, rates, false);
    };
    const Regularisation rates = training_pass(*model.backend);
    CHECK(parts({}) == Approx(model.loss(model.batch(pairs), {}, {}, false)).epsilon(1e-12));
    const std::vector<double> before = running_values(model);
    const double trained = model.loss(model.batch(pairs), {}, rates, true);
    CHECK(std::abs(parts(rates) - trained) > 0.01 * trained);  // micro-batches are not a batch
    CHECK(running_values(model) != before);
    const std::vector<double> after = running_values(model);
    model.loss(model.batch(pairs), {}, {}, true);
    CHECK(running_values(model) == after);
}

TEST_CASE("a batch norm of one token forgets it") {
    ModelConfig config = normed_by_batch();
    config.norm.placement = NormPlacement::Pre;
    config.architecture = Architecture::CausalLm;
    config.encoder_layers = 0;
    SmallModel model(config, "cpu:oracle", false);
    const auto logits_of_one = [&](std::int32_t token, const Regularisation& rates) {
        const Tensor ids = make_from_host(*model.backend, {1, 1}, DType::I32, std::vector<std::int32_t>{token});
        const Tensor lengths = make_from_host(*model.backend, {1}, DType::I32, std::vector<std::int32_t>{1});
        Context ctx{.backend = *model.backend, .regularisation = rates};
        const DeviceBatch batch{.sentences = 1, .target = {.ids = ids, .lengths = lengths}};
        return model.host(model.model->logits(ctx, model.model->states(ctx, batch)).value());
    };
    const Regularisation rates = training_pass(*model.backend);
    CHECK(logits_of_one(5, rates) == logits_of_one(8, rates));
    CHECK(logits_of_one(5, {}) != logits_of_one(8, {}));
}
