#include "train/learner.h"
#include "model/frame_of_config.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>

#include "support/check.h"
#include "tests/model/small_model.h"

using namespace headscope;

namespace {

struct SmallLearner {
    explicit SmallLearner(LearnerOptions options, ModelConfig wanted = small_config())
        : config(std::move(wanted)), learner(*backend, config, std::move(options)) {}
    void step(std::int64_t number) {
        learner.step({make_batch(random_pairs(config, 2, 1), frame_of(config), 0)}, number, 1e-3);
    }
    ModelConfig config;
    std::unique_ptr<Backend> backend = open_device("cpu");
    Learner learner;
};

// As many as the example has tokens to predict.
void weigh(Example& example, float weight) {
    example.weights.assign(example.labels.empty() ? example.target.size() + 1 : example.labels.size(), weight);
}

}  // namespace

TEST_CASE("a step does nothing while the history is full", "[learner]") {
    SmallLearner small({.history = 1});
    small.step(1);
    const auto weights = [&] { return to_host<float>(*small.backend, small.learner.parameters().flat_values()); };
    const auto before = weights();
    CHECK_THROWS_AS(small.step(2), CheckFailure);
    CHECK(weights() == before);
    CHECK(small.learner.take_history().size() == 1);
    CHECK_NOTHROW(small.step(2));
}

TEST_CASE("a learner has a history and a mean only on request", "[learner]") {
    SmallLearner small({});
    CHECK_THROWS_AS(small.learner.take_history(), CheckFailure);
    CHECK_THROWS_AS(small.learner.load_mean(), CheckFailure);
}

TEST_CASE("matrices and embeddings decay, biases and norms do not", "[learner]") {
    constexpr double kRate = 1e-3;
    constexpr double kDecay = 50.0;
    SmallLearner plain({});
    SmallLearner decaying({.optimizer = {.weight_decay = static_cast<float>(kDecay)}});
    const Parameters& parameters = decaying.learner.parameters();
    std::map<std::string, std::vector<float>> before;
    for (const ParameterSpec& spec : parameters.table()) {
        before[spec.name] = parameters.values_of(spec.name);
    }
    plain.step(1);
    decaying.step(1);
    for (const ParameterSpec& spec : parameters.table()) {
        INFO(spec.name);
        const std::vector<float> with = parameters.values_of(spec.name);
        const std::vector<float> without = plain.learner.parameters().values_of(spec.name);
        const bool matrix = spec.shape.rank() == 2;  // the small model has sinusoids
        double worst = 0.0;
        for (std::size_t i = 0; i < with.size(); ++i) {
            const double taken = matrix ? kRate * kDecay * static_cast<double>(before[spec.name][i]) : 0.0;
            worst = std::max(worst, std::abs(static_cast<double>(without[i]) - taken - static_cast<double>(with[i])));
        }
        CHECK(worst <= (matrix ? 1e-6 : 0.0));
    }
}

TEST_CASE("the loss that balances experts moves their routers and is not reported", "[learner]") {
    ModelConfig mixed = small_config();
    mixed.feed_forward.experts.count = 4;
    const auto router_after = [&](float balance, std::vector<StepRecord>& steps) {
        SmallLearner small({.regularisation = {.expert_balance = balance}, .history = 1}, mixed);
        small.step(1);
        steps = small.learner.take_history();
        return small.learner.parameters().values_of("encoder.layers.0.feed_forward.router.weight");
    };
    std::vector<StepRecord> with;
    std::vector<StepRecord> without;
    CHECK(router_after(5.0F, with) != router_after(0.0F, without));
    REQUIRE(with.size() == 1);
    CHECK(with[0].loss == without[0].loss);
    CHECK(with[0].nll == without[0].nll);
}

TEST_CASE("twice the weights over twice the divisor move the parameters alike", "[learner][weights]") {
    const LearnerOptions options{.regularisation = {.expert_balance = 5.0F}, .history = 1};
    for (const NamedConfig& named : all_configs()) {
        INFO(named.name);
        if (named.config.generation == Generation::MaskPredict) {
            continue;  // its lengths have no weights
        }
        std::vector<Example> pairs = random_pairs(named.config, 3, 1);
        if (named.config.architecture != Architecture::EncoderDecoder) {
            pairs = language_examples(named.config, pairs);
        }
        const Batch plain = make_batch(std::span<const Example>(pairs), frame_of(named.config), 0);
        std::for_each(pairs.begin(), pairs.end(), [](Example& pair) { weigh(pair, 2.0F); });
        const Batch twice = make_batch(std::span<const Example>(pairs), frame_of(named.config), 0);
        SmallLearner once(options, named.config);
        SmallLearner weighed(options, named.config);
        once.learner.step({plain}, 1, 1e-3);
        weighed.learner.step({twice}, 1, 1e-3, 2.0 * static_cast<double>(plain.predicted.count));
        CHECK(to_host<float>(*once.backend, once.learner.parameters().flat_values()) ==
              to_host<float>(*weighed.backend, weighed.learner.parameters().flat_values()));
        const StepRecord with = weighed.learner.take_history().at(0);
        const StepRecord without = once.learner.take_history().at(0);
        CHECK(with.loss == Approx(2.0 * without.loss).epsilon(1e-12));
        CHECK(with.divisor == 2.0 * without.divisor);
        CHECK(with.tokens.target == without.tokens.target);
    }
}

TEST_CASE("a sentence of weight 0 has no gradient, and one of weight -1 the opposite", "[learner][weights]") {
    const ModelConfig config = small_config();
    std::vector<Example> pairs = random_pairs(config, 2, 1);
    const auto gradients = [&](std::span<const Example> of) {
        SmallLearner small({}, config);
        small.learner.step({make_batch(of, frame_of(config), 0)}, 1, 1e-3, 1.0);
        return to_host<float>(*small.backend, small.learner.parameters().flat_gradients());
    };
    const std::vector<float> alone = gradients(std::span(pairs).first(1));
    weigh(pairs[1], 0.0F);
    const std::vector<float> weighed = gradients(pairs);
    weigh(pairs[0], -1.0F);
    const std::vector<float> opposite = gradients(pairs);
    double largest = 0.0;
    double worst = 0.0;
    for (std::size_t i = 0; i < alone.size(); ++i) {
        const auto expected = static_cast<double>(alone[i]);
        largest = std::max(largest, std::abs(expected));
        worst = std::max({worst, std::abs(static_cast<double>(weighed[i]) - expected),
                          std::abs(static_cast<double>(opposite[i]) + expected)});
    }
    CHECK(worst < 1e-4);
    CHECK(largest > 0.1);
}

TEST_CASE("gradients are divided by a positive number", "[learner][weights]") {
    SmallLearner small({});
    const std::vector<Batch> parts{make_batch(random_pairs(small.config, 2, 1), frame_of(small.config), 0)};
    for (const double divisor : {0.0, -1.0, std::nan(""), HUGE_VAL}) {
        CHECK_THROWS_AS(small.learner.step(parts, 1, 1e-3, divisor), CheckFailure);
    }
}
