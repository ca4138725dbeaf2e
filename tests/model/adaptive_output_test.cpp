// Adaptive softmax: probabilities of all words, and the clusters of a batch.
#include <catch2/catch.hpp>
#include <cmath>

#include "small_model.h"

using namespace headscope;

namespace {

ModelConfig adaptive_config() {
    ModelConfig config = small_config();
    config.embedding.tying = Tying::Embeddings;
    config.output.adaptive.cutoffs = {4, 7, 10};
    config.output.adaptive.factor = 2;
    return config;
}

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
