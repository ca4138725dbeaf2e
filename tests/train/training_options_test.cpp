// Dependencies between the keys of "training", and those that make it another run.
#include "train/training_options.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/io/temporary_folder.h"
#include "train/config_changes.h"

using namespace headscope;
using Catch::Matchers::Contains;
using nlohmann::json;

namespace {

TrainingOptions parsed(const json& training) {
    TrainingOptions options = parse_training_options(training, "c.json");
    check_training_options(options, "c.json");
    return options;
}

std::string complaint_of_options(const json& training) {
    return error_of([&] { parsed(training); });
}

}  // namespace

TEST_CASE("a batch of auto sets both budgets or none", "[options]") {
    CHECK(parsed({{"steps", 1}, {"source_tokens", "auto"}}).find_batch);
    CHECK(parsed({{"steps", 1}, {"source_tokens", "auto"}, {"target_tokens", "auto"}}).find_batch);
    CHECK(!parsed({{"steps", 1}, {"source_tokens", 7}}).find_batch);
    CHECK_THAT(complaint_of_options({{"steps", 1}, {"source_tokens", "auto"}, {"target_tokens", 9}}),
               Contains("\"training.target_tokens\"") && Contains("leave it out"));
    CHECK_THAT(complaint_of_options({{"steps", 1}, {"target_tokens", "auto"}}), Contains("\"training.target_tokens\""));
    CHECK_THAT(complaint_of_options({{"steps", 1}, {"source_tokens", "many"}}), Contains("\"many\""));
    CHECK_THAT(complaint_of_options({{"steps", 1}, {"source_tokens", "auto"}, {"micro_batch_tokens", 500}}),
               Contains("\"training.micro_batch_tokens\" (500)"));
}

TEST_CASE("contradictory lengths and cool-downs are rejected", "[options]") {
    CHECK_THAT(complaint_of_options({{"patience", 3}}), Contains("\"tokens\"") && Contains("\"minutes\""));
    CHECK(complaint_of_options({{"tokens", 100}, {"cooldown", 0.5}}).empty());
    CHECK_THAT(complaint_of_options({{"steps", 100}, {"cooldown", 0.5}, {"cooldown_steps", 10}}),
               Contains("exclude each other"));
    CHECK_THAT(complaint_of_options({{"steps", 100}, {"cooldown", 1.5}}), Contains("\"training.cooldown\""));
    CHECK_THAT(complaint_of_options({{"steps", 100}, {"divergence_rate_factor", 2.0}}),
               Contains("\"training.divergence_rate_factor\""));
}

TEST_CASE("the identity contains what changes the weights, and unset options are not in it", "[options]") {
    const json plain = identity_of(parsed({{"steps", 100}}));
    CHECK(identity_of(parsed({{"steps", 100}, {"patience", 4}, {"tensorboard", true}, {"tokens", 9}})) == plain);
    CHECK(identity_of(parsed({{"steps", 100}, {"ema_decay", 0.9}})) != plain);
    const json cooled = identity_of(parsed({{"tokens", 1000}, {"cooldown", 0.25}}));
    const json longer = identity_of(parsed({{"tokens", 2000}, {"cooldown", 0.25}}));
    CHECK(compare_configs(cooled, longer, {.tokens = 750}, Purpose::Train).refused.empty());
    CHECK_THAT(compare_configs(cooled, longer, {.tokens = 751}, Purpose::Train).refused,
               Contains("the length of the training was 1000 tokens and is now 2000 tokens") &&
                   Contains("over the last 0.25 of 1000 tokens"));
    const json gentler = identity_of(parsed({{"steps", 100}, {"divergence_rate_factor", 0.3}}));
    const ConfigChanges changes = compare_configs(plain, gentler, {.steps = 5}, Purpose::Train);
    CHECK(changes.refused.empty());
    REQUIRE(changes.allowed.size() == 1);
    CHECK_THAT(changes.allowed.front(), Contains("\"training.divergence_rate_factor\" was absent and is now 0.3"));
    const json two = identity_of(parsed({{"steps", 100}, {"seed", 5}, {"warmup_steps", 9}}));
    CHECK_THAT(compare_configs(plain, two, {.steps = 5}, Purpose::Train).refused,
               Contains("\"training.seed\" was 1 and is now 5") &&
                   Contains("\"training.warmup_steps\" was 4000 and is now 9"));
}
