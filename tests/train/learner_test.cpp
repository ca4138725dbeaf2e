#include "train/learner.h"
#include "model/frame.h"

#include <catch2/catch.hpp>

#include "support/check.h"
#include "tests/model/small_model.h"

using namespace headscope;

namespace {

struct SmallLearner {
    explicit SmallLearner(LearnerOptions options) : learner(*backend, config, std::move(options)) {}
    void step(std::int64_t number) {
        learner.step({make_batch(random_pairs(config, 2, 1), frame_of(config), 0)}, number, 1e-3);
    }
    ModelConfig config = small_config();
    std::unique_ptr<Backend> backend = open_device("cpu");
    Learner learner;
};

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
