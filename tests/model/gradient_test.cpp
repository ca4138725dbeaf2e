// The backward pass of the whole model, in double precision.
#include <catch2/catch.hpp>
#include <cmath>

#include "backend/ops/elementwise.h"
#include "small_model.h"

using namespace headscope;

namespace {

// The largest difference between the tape's gradients and central differences over some entries of every parameter.
double worst_gradient(SmallModel& model, const LossOptions& options, const Regularisation& rates) {
    const DeviceBatch batch = model.batch(random_pairs(model.config, 3, 1));
    model.parameters.forget_gradients();
    model.loss(batch, options, rates, true);
    double worst = 0.0;
    Random random(6);
    for (const ParameterSpec& spec : model.parameters.table()) {
        if (!spec.trained) {
            continue;
        }
        const Var parameter = model.parameters.at(spec.name);
        std::vector<double> values = model.host(parameter.value());
        const std::vector<double> gradient = model.host(parameter.gradient());
        constexpr int kSamples = 6;
        for (int sample = 0; sample < kSamples; ++sample) {
            const std::size_t entry = random.below(values.size());
            const double kept = values[entry];
            constexpr double kStep = 1e-5;
            const auto loss_at = [&](double value) {
                values[entry] = value;
                from_host(*model.backend, parameter.value(), values);
                return model.loss(batch, options, rates, false);
            };
            const double expected = (loss_at(kept + kStep) - loss_at(kept - kStep)) / (2.0 * kStep);
            loss_at(kept);
            const double difference = std::abs(expected - gradient[entry]);
            INFO(spec.name << "[" << entry << "]: tape " << gradient[entry] << ", differences " << expected);
            CHECK(difference <= 2e-6 * std::max(1.0, std::abs(expected)));
            worst = std::max(worst, difference);
        }
    }
    return worst;
}

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
    REQUIRE(a.size() == b.size());
    double largest = 0.0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        largest = std::max(largest, std::abs(a[i] - b[i]));
    }
    return largest;
}

}  // namespace

TEST_CASE("every gradient of the model agrees with central differences") {
    std::vector<NamedConfig> configs = all_configs();
    for (const NamedConfig& reads_pictures : picture_configs()) {
        configs.push_back(reads_pictures);
    }
    for (const NamedConfig& varied : configs) {
        SECTION(varied.name) {
            SmallModel model(varied.config, "cpu:oracle");
            // Chunks of 5 rows do not divide the 24 rows of the batch.
            CHECK(worst_gradient(model, {.epsilon = 0.1F, .chunk_rows = 5}, {}) > 0.0);
            const LossOptions others{.epsilon = 0.2F, .smoothing = Smoothing::OtherClasses};
            CHECK(worst_gradient(model, others, all_dropouts(*model.backend)) > 0.0);
        }
    }
}

TEST_CASE("micro-batches add up to one batch, with dropout") {
    for (const NamedConfig& varied : all_configs()) {
        if (varied.config.norm.type == NormType::Batch) {
            continue;  // whose statistics are those of a micro-batch: tests/model/batch_norm_test.cpp
        }
        SECTION(varied.name) {
            SmallModel model(varied.config, "cpu:oracle");
            const Regularisation rates = all_dropouts(*model.backend);
            const std::vector<Example> pairs = random_pairs(model.config, 5, 2);
            const double whole = model.loss(model.batch(pairs), {}, rates, true);
            const std::vector<double> expected = model.host(model.parameters.flat_gradients());

            // The first writer must overwrite all of this noise.
            model.backend->run(Fill{.out = model.parameters.flat_gradients(), .value = 1e30F});
            model.parameters.forget_gradients();
            const std::vector<Example> first(pairs.begin(), pairs.begin() + 2);
            const std::vector<Example> second(pairs.begin() + 2, pairs.end());
            const double parts =
                model.loss(model.batch(first), {}, rates, true) + model.loss(model.batch(second, 2), {}, rates, true);
            CHECK(parts == Approx(whole).epsilon(1e-13));
            for (const ParameterSpec& spec : model.parameters.table()) {
                INFO(spec.name);
                const Tensor gradient = model.parameters.at(spec.name).gradient();
                const std::vector<double> found = model.host(gradient);
                const auto begin = expected.begin() + gradient.offset;
                CHECK(largest_difference(found, {begin, begin + gradient.elements()}) < 1e-12);
            }
        }
    }
}

TEST_CASE("dropout changes with the step and is off without one") {
    SmallModel model(small_config(), "cpu:oracle");
    const DeviceBatch batch = model.batch(random_pairs(model.config, 3, 1));
    const Regularisation rates = all_dropouts(*model.backend);
    Regularisation later = rates;
    later.step = make_from_host(*model.backend, {1}, DType::I32, std::vector<std::int32_t>{10});
    Regularisation off = rates;
    off.step = Tensor();
    const double plain = model.loss(batch, {}, {}, false);
    CHECK(model.loss(batch, {}, rates, false) != plain);
    CHECK(model.loss(batch, {}, rates, false) != model.loss(batch, {}, later, false));
    CHECK(model.loss(batch, {}, off, false) == plain);
    // Each of the four rates has an effect.
    for (float Regularisation::*rate : {&Regularisation::residual, &Regularisation::embedding,
                                        &Regularisation::attention, &Regularisation::activation}) {
        Regularisation one;
        one.step = rates.step;
        one.*rate = 0.5F;
        CHECK(model.loss(batch, {}, one, false) != plain);
    }
}

TEST_CASE("the loss does not depend on the rows of logits in a chunk") {
    SmallModel model(small_config(), "cpu:oracle");
    const DeviceBatch batch = model.batch(random_pairs(model.config, 4, 1));
    const double whole = model.loss(batch, {.chunk_rows = 1000}, {}, true);
    const std::vector<double> expected = model.host(model.parameters.flat_gradients());
    for (const std::int64_t rows : {1, 7, 8, 32}) {
        model.parameters.forget_gradients();
        CHECK(model.loss(batch, {.chunk_rows = rows}, {}, true) == Approx(whole).epsilon(1e-14));
        CHECK(largest_difference(model.host(model.parameters.flat_gradients()), expected) < 1e-12);
    }
}

TEST_CASE("every gradient is reported as final once, after its last write") {
    for (const NamedConfig& varied : all_configs()) {
        SECTION(varied.name) {
            SmallModel model(varied.config, "cpu:oracle");
            const DeviceBatch batch = model.batch(random_pairs(model.config, 3, 1));
            std::vector<std::pair<Var, std::vector<double>>> final;
            Tape tape;
            tape.on_final_gradient = [&](const Var& parameter) {
                final.emplace_back(parameter, model.host(parameter.gradient()));
            };
            Context ctx{*model.backend, &tape};
            model.model->loss(ctx, batch, {});
            std::int64_t elements = 0;
            for (const auto& [parameter, seen] : final) {
                INFO(parameter.name());
                CHECK(model.host(parameter.gradient()) == seen);
                elements += parameter.shape().elements();
            }
            CHECK(elements == model.parameters.count());
        }
    }
}
