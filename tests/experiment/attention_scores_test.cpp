// The claims of section 3.2.1, where they can be known beforehand.
#include <cmath>
#include <memory>

#include <catch2/catch.hpp>

#include "experiment/attention_scores.h"
#include "registry/registry.h"

using namespace headscope;

TEST_CASE("products deviate by sqrt(d_k), scaled and additive ones by 1, and softmax's gradient follows", "[scores]") {
    const std::unique_ptr<Backend> backend = open_device("cpu");
    const auto measured = [&](std::size_t kind, std::int64_t d_k) {
        return measure_scores(*backend, score_kinds()[kind], d_k, 48, 1);
    };
    for (const std::int64_t d_k : {16, 256}) {
        const ScoreMeasures scaled = measured(0, d_k);
        const ScoreMeasures unscaled = measured(1, d_k);
        const ScoreMeasures additive = measured(2, d_k);
        CHECK(scaled.deviation == Approx(1.0).epsilon(0.05));
        CHECK(unscaled.deviation == Approx(std::sqrt(static_cast<double>(d_k))).epsilon(0.05));
        CHECK(additive.deviation < 1.2);
        CHECK(scaled.gradient > 0.9);
        CHECK(additive.gradient > 0.9);
        CHECK(unscaled.gradient < (d_k == 256 ? 0.2 : 0.7));
        CHECK(scaled.pass.bytes > 0);
        // The weights of all heads are kept.
        CHECK(additive.pass.bytes >= 8 * 48 * 48 * sizeof(float));
    }
}

TEST_CASE("models of any d_k and score have as many parameters", "[scores]") {
    const std::unique_ptr<Backend> backend = open_device("cpu");
    LongRangeSettings settings;
    settings.steps = 2;
    std::int64_t parameters = 0;
    for (const ScoreKind& kind : score_kinds()) {
        for (const std::int64_t d_k : {4, 256}) {
            const auto learnt = learn_long_range(*backend, settings, LongRangeTask::Recall, recalling_model(kind, d_k),
                                                 4, [] { return false; });
            REQUIRE(learnt);
            parameters = parameters == 0 ? learnt->parameters : parameters;
            CHECK(recalling_model(kind, d_k).decoder.value("attention.score", "scaled_dot_product") ==
                  kind.model.value("attention.score", "scaled_dot_product"));
            CHECK((recalling_model(kind, d_k).decoder.value("attention.score", "") == "dot_product") ==
                  (kind.name[0] == 'u'));
            CHECK(learnt->parameters == Approx(static_cast<double>(parameters)).epsilon(0.01));
        }
    }
}

TEST_CASE("a table of scores has a row for each, and says what was not learnt", "[scores]") {
    ScoreMeasures one{.kind = &score_kinds().back(), .d_k = 16, .deviation = 1.0, .gradient = 0.5};
    one.learnt.emplace().accuracy = 0.25;
    one.pass = {0.001, 0.002, 2'500'000};
    ScoreMeasures two{.kind = &score_kinds().front(), .d_k = 4};
    CHECK(report_of({one, two}, "cpu").tables[0].rows ==
          std::vector<std::vector<std::string>>{{"v tanh(q + k)", "16", "1.00", "0.500", "3", "2.5", "25 %"},
                                                {"q k / sqrt(d_k)", "4", "0.00", "0.000", "0", "0.0", "-"}});
    two.learnt.emplace().steps = 90;
    CHECK(report_of({two}, "cpu").tables[0].rows.front().back() == "90");
}
