// Long-range dependencies: an easy one is learnt, results are kept, and other settings are refused.
#include <memory>

#include <catch2/catch.hpp>

#include "experiment/long_range.h"
#include "registry/registry.h"
#include "support/check.h"
#include "tests/io/temporary_folder.h"

using namespace headscope;

TEST_CASE("every kind of layer learns a short distance, with as many parameters", "[long_range]") {
    const std::unique_ptr<Backend> backend = open_device("cpu");
    const LongRangeSettings settings{.layers = 1, .d_model = 32, .sequences = 16, .steps = 400, .learning_rate = 3e-3};
    std::int64_t parameters = 0;
    for (const LayerKind& kind : layer_kinds()) {
        CAPTURE(kind.name);
        const auto result = learn_long_range(*backend, settings, LongRangeTask::Recall, kind, 2, [] { return false; });
        REQUIRE(result);
        CHECK(result->steps.has_value());
        CHECK(result->accuracy >= 0.99);
        parameters = parameters == 0 ? result->parameters : parameters;
        CHECK(result->parameters == Approx(static_cast<double>(parameters)).epsilon(0.01));
    }
    CHECK_FALSE(
        learn_long_range(*backend, settings, LongRangeTask::Copy, layer_kinds().front(), 3, [] { return true; }));
}

TEST_CASE("results of long-range dependencies are kept, with their settings", "[long_range]") {
    const TemporaryFolder folder;
    const LongRangeSettings settings;
    {
        LongRange experiment(folder.file("out"), settings);
        experiment.add({LongRangeTask::Copy, "self-attention", 16, 450, 0.995, 1000});
        experiment.add({LongRangeTask::Copy, "self-attention", 8, std::nullopt, 0.25, 1000});
    }
    const LongRange experiment(folder.file("out"), settings);
    const LongRangeResult* found = experiment.find(LongRangeTask::Copy, "self-attention", 16);
    REQUIRE(found != nullptr);
    CHECK(found->steps == 450);
    CHECK(experiment.find(LongRangeTask::Recall, "self-attention", 16) == nullptr);
    const TextTable table = experiment.table();
    CHECK(table.head == std::vector<std::string>{"task", "layer", "params", "8", "16"});
    CHECK(table.rows == std::vector<std::vector<std::string>>{{"copy", "self-attention", "1000", "25 %", "450"}});
    LongRangeSettings other = settings;
    other.steps = 7;
    CHECK_THROWS_WITH(LongRange(folder.file("out"), other), Catch::Contains("\"steps\" was 1000 and is now 7"));
}
