// Adaptive softmax: probabilities of all words, and the clusters of a batch.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "backend/ops/search.h"
#include "model/adaptive_output.h"
#include "small_model.h"
#include "support/random.h"
#include "tests/ops/devices.h"

using namespace headscope;

namespace {

ModelConfig adaptive_config() {
    ModelConfig config = small_config();
    config.embedding.tying = Tying::Embeddings;
    config.output.adaptive.cutoffs = {4, 7, 10};
    config.output.adaptive.factor = 2;
    return config;
}

// The output of a model without the rest.
struct OutputAlone {
    explicit OutputAlone(const std::string& device)
        : small(adaptive_config(), device),
          output(small.config, Scope(declared, &small.parameters).in("output").for_each(&MultiplyAdds::predicted_token),
                 1.0F) {}

    SmallModel small;
    ModelDescription declared;
    AdaptiveOutput output;
};

std::string refusal(const ModelConfig& config) {
    try {
        check_model_config(config, "c.json");
        return "";
    } catch (const Error& error) {
        return error.what();
    }
}

}  // namespace

TEST_CASE("the loss of an adaptive output is that of its probabilities of all words", "[adaptive]") {
    SmallModel small(adaptive_config(), "cpu:oracle");
    DeviceBatch batch = small.batch(random_pairs(small.config, 5, 3));
    Context ctx{*small.backend};
    const LossSums clustered = small.model->loss(ctx, batch, {.epsilon = 0.0F});
    batch.adaptive = {};
    const LossSums of_all = small.model->loss(ctx, batch, {.epsilon = 0.0F});
    CHECK(small.host(clustered.nll)[0] == Approx(small.host(of_all.nll)[0]).epsilon(1e-12));
    CHECK(small.host(clustered.loss)[0] == Approx(small.host(of_all.loss)[0]).epsilon(1e-12));
}

TEST_CASE("a cluster has the probability that the head gives to it", "[adaptive]") {
    SmallModel small(adaptive_config(), "cpu:oracle");
    const Tensor states = small.backend->empty({1, 1, 8}, small.backend->full_dtype());
    const std::vector<double> state{0.3, -1.0, 0.5, 2.0, -0.1, 0.7, -0.4, 1.1};
    from_host(*small.backend, states, state);
    Context ctx{*small.backend};
    std::vector<double> chances = small.host(small.model->logits(ctx, Var(states)).value());
    double total = 0.0;
    for (double& chance : chances) {
        chance = std::exp(chance);
        total += chance;
    }
    const std::vector<float> head = small.parameters.values_of("output.head.weight");
    std::vector<double> classes;
    double of_head = 0.0;
    for (std::size_t c = 0; c < 7; ++c) {
        double logit = 0.0;
        for (std::size_t i = 0; i < 8; ++i) {
            logit += static_cast<double>(head[c * 8 + i]) * state[i];
        }
        classes.push_back(std::exp(logit));
        of_head += classes.back();
    }
    CHECK(chances[2] / total == Approx(classes[2] / of_head).epsilon(1e-6));
    CHECK((chances[4] + chances[5] + chances[6]) / total == Approx(classes[4] / of_head).epsilon(1e-6));
    CHECK(chances[10] / total == Approx(classes[6] / of_head).epsilon(1e-6));
}

TEST_CASE("the likeliest words are found with the clusters that may have them", "[adaptive]") {
    const OutputAlone alone(GENERATE(from_range(conformance::devices_under_test())));
    const std::int64_t k = GENERATE(1, 2, 5, 11);
    const double certainty = GENERATE(1.0, 10.0);
    CAPTURE(k, certainty);
    Backend& backend = *alone.small.backend;
    Context ctx{backend};
    constexpr std::int64_t kRows = 200;
    Random random(1);
    std::vector<float> numbers(kRows * 8);
    for (float& number : numbers) {
        number = static_cast<float>(certainty * (2.0 * random.uniform() - 1.0));
    }
    const Var states(make_from_host(backend, {1, kRows, 8}, DType::F32, numbers));
    const Tensor values = backend.empty({kRows, k}, DType::F32);
    const Tensor tokens = backend.empty({kRows, k}, DType::I32);
    const std::int64_t evaluated = alone.output.likeliest(ctx, states, values, tokens);
    const std::vector<double> found = to_host<double>(backend, values);
    const std::vector<std::int32_t> words = to_host<std::int32_t>(backend, tokens);
    backend.run(LogSoftmaxTopK{
        .logits = alone.output.logits(ctx, states).value().reshape({kRows, 11}), .values = values, .indices = tokens});
    CHECK(words == to_host<std::int32_t>(backend, tokens));
    const std::vector<double> expected = to_host<double>(backend, values);
    for (std::size_t i = 0; i < found.size(); ++i) {
        CHECK(found[i] == Approx(expected[i]).margin(1e-4));
    }
    const std::int64_t all = kRows * std::ssize(alone.small.config.output.adaptive.cutoffs);
    CHECK((k == 11 ? evaluated == all : evaluated < all));
}

TEST_CASE("a state that is sure of a frequent word evaluates no cluster", "[adaptive]") {
    const OutputAlone alone("cpu");
    const std::vector<float> head = alone.small.parameters.values_of("output.head.weight");
    std::vector<float> state(head.begin(), head.begin() + 8);  // as the weights of word 0, the longest
    std::ranges::transform(state, state.begin(), [](float value) { return 100.0F * value; });
    Backend& backend = *alone.small.backend;
    Context ctx{backend};
    const Tensor tokens = backend.empty({1, 1}, DType::I32);
    CHECK(alone.output.likeliest(ctx, Var(make_from_host(backend, {1, 1, 8}, DType::F32, state)),
                                 backend.empty({1, 1}, DType::F32), tokens) == 0);
    CHECK(to_host<std::int32_t>(backend, tokens).front() == 0);
}

TEST_CASE("an adaptive output says what it cannot be", "[adaptive]") {
    const auto with = [](auto change) {
        ModelConfig config = adaptive_config();
        change(config);
        return refusal(config);
    };
    using Catch::Contains;
    CHECK(refusal(adaptive_config()).empty());
    CHECK_THAT(
        with([](ModelConfig& c) {
            c.output.adaptive.cutoffs = {4, 11};
        }),
        Contains("\"output.adaptive.cutoffs\" must ascend from at least 1 to at most 10") && Contains("[4, 11]"));
    CHECK_THAT(with([](ModelConfig& c) { c.output.adaptive.cutoffs = {4, 4}; }), Contains("must ascend"));
    CHECK_THAT(with([](ModelConfig& c) { c.output.adaptive.cutoffs = {0, 4}; }), Contains("at least 1"));
    CHECK_THAT(with([](ModelConfig& c) { c.output.adaptive.cutoffs = {}; }),
               Contains("\"output.adaptive.factor\" must be left out unless"));
    CHECK_THAT(with([](ModelConfig& c) { c.output.adaptive.factor = 3; }),
               Contains("\"output.adaptive.factor\" 3 would project d_model 8 to nothing in cluster 3"));
    CHECK_THAT(with([](ModelConfig& c) { c.embedding.tying = Tying::All; }),
               Contains("\"embedding.tying\" must be \"embeddings\" or \"none\"") && Contains("found \"all\""));
    CHECK_THAT(with([](ModelConfig& c) { c.output.bias = true; }), Contains("\"output.bias\" must be left out unless"));
}
