// A mixture of experts in a model: what equals a plain feed-forward, what a capacity drops, and what balances.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>

#include "autograd/experts.h"
#include "backend/ops/elementwise.h"
#include "small_model.h"
#include "tests/ops/devices.h"

using namespace headscope;

namespace {

ModelConfig mixed_config(std::int64_t experts, std::int64_t of_a_token) {
    ModelConfig config = small_config();
    config.feed_forward.experts.count = experts;
    config.feed_forward.experts.per_token = of_a_token;
    return config;
}

// A pass in which experts have their capacity, without dropout.
Regularisation training_pass_of_experts(Backend& backend) {
    Regularisation rates;
    rates.step = make_from_host(backend, {1}, DType::I32, std::vector<std::int32_t>{1});
    return rates;
}

// Logits [tokens, experts] of which those of each token's first and second choice are 2 and 1, others 0.
std::vector<double> logits_for(const std::vector<std::int64_t>& first, const std::vector<std::int64_t>& second,
                               std::int64_t experts) {
    std::vector<double> logits;
    for (std::size_t t = 0; t < first.size(); ++t) {
        for (std::int64_t e = 0; e < experts; ++e) {
            logits.push_back(e == first[t] ? 2.0 : e == second[t] ? 1.0 : 0.0);
        }
    }
    return logits;
}

}  // namespace

TEST_CASE("equal experts give a plain feed-forward's results, whatever the router chooses", "[experts]") {
    for (const std::string& device : conformance::devices_under_test()) {
        for (const bool gated : {false, true}) {
            ModelConfig config = mixed_config(3, 2);
            config.feed_forward.gate = gated;
            ModelConfig single = config;
            single.feed_forward.experts.count = 0;
            SmallModel mixed(config, device);
            SmallModel plain(single, device);
            for (const ParameterSpec& spec : mixed.parameters.table()) {
                const std::size_t at = spec.name.find(".experts.");
                if (spec.name.find(".router.") != std::string::npos) {
                    continue;
                }
                std::string name = spec.name;
                if (at != std::string::npos) {
                    name.erase(at, std::string(".experts.0").size());
                }
                mixed.parameters.store(spec.name, plain.parameters.values_of(name));
            }
            const std::vector<Example> pairs = random_pairs(config, 4, 3);
            const double expected = plain.loss(plain.batch(pairs), {}, {}, true);
            INFO(device);
            CHECK(mixed.loss(mixed.batch(pairs), {}, {}, true) == Approx(expected).epsilon(1e-5));
            // What the experts get of the gradient is what the one part gets.
            const std::string weight = "encoder.layers.0.feed_forward.";
            std::vector<double> sum;
            for (int e = 0; e < 3; ++e) {
                const Var found = mixed.parameters.at(weight + "experts." + std::to_string(e) + ".inner.weight");
                const std::vector<double> part = mixed.host(found.gradient());
                sum.resize(part.size());
                std::transform(part.begin(), part.end(), sum.begin(), sum.begin(), std::plus<>());
            }
            const std::vector<double> whole = plain.host(plain.parameters.at(weight + "inner.weight").gradient());
            for (std::size_t i = 0; i < whole.size(); ++i) {
                REQUIRE(sum[i] == Approx(whole[i]).margin(1e-4));
            }
        }
    }
}

TEST_CASE("a full expert drops later tokens, and second choices before first ones", "[experts]") {
    for (const std::string& device : conformance::devices_under_test()) {
        INFO(device);
        const std::unique_ptr<Backend> backend = open_device(device, environment_options());
        // Two texts of 3 positions, the last of which is padding. Expert 0 is the second choice of token 0 and the
        // first of tokens 1, 3 and 4.
        const std::vector<std::int64_t> first{1, 0, 0, 0, 0, 2};
        const std::vector<std::int64_t> second{0, 2, 2, 1, 2, 0};
        const Var logits(make_from_host(*backend, {2, 3, 3}, backend->full_dtype(), logits_for(first, second, 3)));
        const Tensor lengths = make_from_host(*backend, {2}, DType::I32, std::vector<std::int32_t>{2, 3});
        Context ctx{*backend};
        const auto slots = [&](std::int64_t capacity) {
            return to_host<std::int32_t>(
                *backend, route(ctx, logits, {.choices = 2, .capacity = capacity, .lengths = lengths}).slots);
        };
        CHECK(slots(6) == std::vector<std::int32_t>{6, 3, 0, 13, -1, -1, 1, 7, 2, 14, 12, 4});
        CHECK(slots(2) == std::vector<std::int32_t>{2, -1, 0, 5, -1, -1, 1, 3, -1, -1, 4, -1});
        const Routes routes = route(ctx, logits, {.choices = 2, .capacity = 2, .lengths = lengths});
        CHECK(to_host<std::int32_t>(*backend, routes.sources) == std::vector<std::int32_t>{1, 3, 0, 3, 5, 1});
        const std::vector<double> weights = to_host<double>(*backend, routes.weights.value());
        const double larger = 1.0 / (1.0 + std::exp(-1.0));
        for (std::size_t slot = 0; slot < weights.size(); ++slot) {
            CHECK(weights[slot] == Approx(slot == 3 || slot == 5 ? 1.0 - larger : larger).epsilon(1e-5));
        }
    }
}

TEST_CASE("only training passes have a capacity", "[experts]") {
    ModelConfig config = mixed_config(4, 2);
    SmallModel unlimited(config, "cpu:oracle");
    config.feed_forward.experts.capacity = 0.5F;
    SmallModel limited(config, "cpu:oracle");
    const std::vector<Example> pairs = random_pairs(config, 4, 3);
    const Regularisation rates = training_pass_of_experts(*limited.backend);
    const double expected = unlimited.loss(unlimited.batch(pairs), {}, {}, false);
    CHECK(limited.loss(limited.batch(pairs), {}, {}, false) == expected);
    CHECK(unlimited.loss(unlimited.batch(pairs), {}, rates, false) == expected);
    CHECK(std::abs(limited.loss(limited.batch(pairs), {}, rates, false) - expected) > 1e-3);
    config.feed_forward.experts.capacity = 2.0F;  // a slot for every token
    SmallModel ample(config, "cpu:oracle");
    CHECK(ample.loss(ample.batch(pairs), {}, rates, false) == Approx(expected).epsilon(1e-12));
}

TEST_CASE("the balancing loss evens out a skewed router in a few steps", "[experts]") {
    constexpr std::int64_t kExperts = 4;
    const std::unique_ptr<Backend> backend = open_device("cpu:oracle");
    Random random(5);
    std::vector<double> inputs;
    for (int i = 0; i < 64 * 8; ++i) {
        inputs.push_back(static_cast<double>(random.below(2000)) / 1000.0 - 1.0 + (i % 8 == 0 ? 2.0 : 0.0));
    }
    const Tensor x = make_from_host(*backend, {4, 16, 8}, DType::F64, inputs);
    const auto largest_share = [&](float balance) {
        std::vector<double> router(static_cast<std::size_t>(kExperts * 8));
        router[0] = 1.0;  // all tokens have a large first column, so that nearly all choose expert 0
        for (std::size_t i = 1; i < router.size(); ++i) {
            router[i] += static_cast<double>(random.below(200)) / 1000.0 - 0.1;
        }
        double share = 0.0;
        for (int step = 0; step < 60; ++step) {
            Tape tape;
            Context ctx{*backend, &tape};
            ctx.regularisation.expert_balance = balance;
            const Var weight(make_from_host(*backend, {kExperts, 8}, DType::F64, router), true);
            const Var logits = linear(ctx, Var(x), weight);
            const Routes routes = route(ctx, logits, {.choices = 1, .capacity = 64});
            backend->run(Fill{.out = routes.weights.gradient_target(*backend).tensor});
            tape.backward(*backend);
            const std::vector<double> gradient = to_host<double>(*backend, weight.gradient());
            std::vector<double> counts(kExperts);
            for (const std::int32_t slot : to_host<std::int32_t>(*backend, routes.slots)) {
                counts[static_cast<std::size_t>(slot / 64)] += 1.0 / 64.0;
            }
            share = *std::max_element(counts.begin(), counts.end());
            for (std::size_t i = 0; i < router.size(); ++i) {
                router[i] -= 0.005 * gradient[i];  // larger steps overshoot
            }
        }
        return share;
    };
    CHECK(largest_share(0.0F) > 0.9);
    CHECK(largest_share(0.1F) < 0.5);
}

TEST_CASE("the gradient of the balancing loss is that of its value, padding left out", "[experts]") {
    constexpr std::size_t kExperts = 4;
    constexpr std::size_t kLength = 3;
    constexpr double kBalance = 0.5;
    const std::vector<std::int32_t> lengths{3, 2};
    const std::unique_ptr<Backend> backend = open_device("cpu:oracle");
    Random random(5);
    std::vector<double> logits(2 * kLength * kExperts);
    std::vector<double> shares(kExperts, 0.0);
    for (double& logit : logits) {
        logit = 2.0 * random.uniform() - 1.0;
    }
    const auto is_token = [&](std::size_t token) {
        return static_cast<std::int32_t>(token % kLength) < lengths[token / kLength];
    };
    const auto row_of = [&](const std::vector<double>& of, std::size_t token) {
        return of.begin() + static_cast<std::ptrdiff_t>(token * kExperts);
    };
    for (std::size_t token = 0; token < 2 * kLength; ++token) {
        const auto row = row_of(logits, token);
        if (is_token(token)) {
            shares[static_cast<std::size_t>(std::max_element(row, row + kExperts) - row)] += 1.0 / 5.0;
        }
    }
    // Shares are constants.
    const auto value = [&](const std::vector<double>& at) {
        double sum = 0.0;
        for (std::size_t token = 0; token < 2 * kLength; ++token) {
            double total = 0.0;
            double weighted = 0.0;
            for (std::size_t e = 0; e < kExperts; ++e) {
                total += std::exp(row_of(at, token)[static_cast<std::ptrdiff_t>(e)]);
                weighted += shares[e] * std::exp(row_of(at, token)[static_cast<std::ptrdiff_t>(e)]);
            }
            sum += is_token(token) ? weighted / total : 0.0;
        }
        return kBalance * static_cast<double>(kExperts) * sum;
    };
    Tape tape;
    Context ctx{*backend, &tape};
    ctx.regularisation.expert_balance = static_cast<float>(kBalance);
    const Var in(make_from_host(*backend, {2, 3, 4}, DType::F64, logits), true);
    const Routes routes =
        route(ctx, in, {.choices = 2, .capacity = 6, .lengths = make_from_host(*backend, {2}, DType::I32, lengths)});
    backend->run(Fill{.out = routes.weights.gradient_target(*backend).tensor});
    tape.backward(*backend);
    const std::vector<double> gradient = to_host<double>(*backend, in.gradient());
    for (std::size_t i = 0; i < logits.size(); ++i) {
        constexpr double kStep = 1e-5;
        std::vector<double> above = logits;
        std::vector<double> below = logits;
        above[i] += kStep;
        below[i] -= kStep;
        CHECK(gradient[i] == Approx((value(above) - value(below)) / (2.0 * kStep)).margin(1e-8));
    }
}

TEST_CASE("the balancing loss joins the gradient, and follows the loss scale", "[experts]") {
    SmallModel model(mixed_config(4, 2), "cpu:oracle");
    const DeviceBatch batch = model.batch(random_pairs(model.config, 4, 3));
    const std::string router = "encoder.layers.0.feed_forward.router.weight";
    const auto gradient = [&](float balance, const Tensor& scale) {
        Regularisation rates;
        rates.expert_balance = balance;
        rates.gradient_scale = scale;
        model.parameters.forget_gradients();
        model.loss(batch, {.gradient_scale = scale}, rates, true);
        return model.host(model.parameters.at(router).gradient());
    };
    const Tensor eight = make_from_host(*model.backend, {1}, DType::F64, std::vector<double>{8.0});
    const std::vector<double> without = gradient(0.0F, {});
    const std::vector<double> with = gradient(0.5F, {});
    const std::vector<double> scaled = gradient(0.5F, eight);
    double difference = 0.0;
    for (std::size_t i = 0; i < with.size(); ++i) {
        difference += std::abs(with[i] - without[i]);
        CHECK(scaled[i] == Approx(8.0 * with[i]).margin(1e-12));
    }
    CHECK(difference > 1e-3);
}
