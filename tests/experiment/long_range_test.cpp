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
    const std::vector<LongRangeResult> results = {{LongRangeTask::Copy, "self-attention", 16, 450, 0.995, 1000},
                                                  {LongRangeTask::Copy, "self-attention", 8, std::nullopt, 0.25, 1000}};
    CHECK(known_results(folder.file("out"), settings).empty());
    report_of(results, settings).write(folder.file("out"));
    const std::vector<LongRangeResult> known = known_results(folder.file("out"), settings);
    REQUIRE(known.size() == 2);
    CHECK(known[0].task == LongRangeTask::Copy);
    CHECK(known[0].steps == 450);
    CHECK(known[1].distance == 8);
    CHECK_FALSE(known[1].steps);
    const TextTable table = report_of(known, settings).tables.front();
    CHECK(table.head == std::vector<std::string>{"task", "layer", "params", "8", "16"});
    CHECK(table.rows == std::vector<std::vector<std::string>>{{"copy", "self-attention", "1000", "25 %", "450"}});
    LongRangeSettings other = settings;
    other.steps = 7;
    CHECK_THROWS_WITH(known_results(folder.file("out"), other), Catch::Contains("\"steps\" was 1000 and is now 7"));
}
