#include "eval/compare_translations.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "infer/forced_scores.h"
#include "registry/registry.h"
#include "tests/infer/tiny_model.h"

using namespace headscope;

namespace {

const std::vector<std::string> kLines{"the small dog sees the big cat", "", "a cat sleeps on the mat"};

TranslationOptions greedy() {
    return {.search = {.beam = 1, .max_extra = 6}};
}

// A small model on the CPU and on the oracle, with their translations of kLines.
struct Both {
    Agreement compare() const { return compare_translations({{{*cpu, first, a}, {*oracle, second, b}}}); }

    std::unique_ptr<Backend> cpu = open_device("cpu");
    std::unique_ptr<Backend> oracle = open_device("cpu:oracle");
    Translator first = tiny_translator(*cpu);
    Translator second = tiny_translator(*oracle);
    std::vector<TranslatedSentence> a = first.translate(kLines, greedy());
    std::vector<TranslatedSentence> b = second.translate(kLines, greedy());
};

}  // namespace

TEST_CASE("a device and the oracle translate equally; empty lines are skipped") {
    const Agreement agreement = Both().compare();
    CHECK(agreement.identical == 2);
    CHECK(agreement.sentences() == 2);
    CHECK(agreement.score_drift > 0.0);
    CHECK(agreement.score_drift < 1e-3);
}

TEST_CASE("where outputs diverge, each device scores both candidates") {
    Both both;
    std::vector<std::int32_t>& altered = both.b[2].target_ids;
    REQUIRE(altered.size() > 3);
    const std::int32_t chosen = altered[2];
    const std::int32_t other = chosen == 5 ? 6 : 5;
    altered[2] = other;
    altered.resize(4, other);  // the rest does not matter

    const Agreement agreement = both.compare();
    CHECK(agreement.identical == 1);
    REQUIRE(agreement.differences.size() == 1);
    const Difference& difference = agreement.differences.front();
    CHECK(difference.sentence == 2);
    CHECK(difference.divergence.position == 2);
    CHECK(difference.divergence.candidates[0] == chosen);
    CHECK(difference.divergence.candidates[1] == other);

    Context ctx{.backend = *both.oracle};
    const TranslatedSentence& whole = both.a[2];
    const auto scores = next_log_probabilities(ctx, both.second.transformer(), whole.source_ids,
                                               {whole.target_ids.begin(), whole.target_ids.begin() + 2});
    const double preferred = scores[static_cast<std::size_t>(chosen)];
    const double passed_over = scores[static_cast<std::size_t>(other)];
    CHECK(preferred > passed_over);
    for (const CandidateScores& device : difference.by_device) {
        CHECK(device[0] == Approx(preferred).margin(1e-4));
        CHECK(device[1] == Approx(passed_over).margin(1e-4));
    }
    CHECK(difference.gap == Approx(preferred - passed_over).margin(1e-4));
}

TEST_CASE("a truncated output is a difference, and never a tie") {
    const auto backend = open_device("cpu");
    const Translator translator = tiny_translator(*backend);
    const auto whole = translator.translate(kLines, greedy());
    auto cut = whole;
    cut[0].target_ids.pop_back();
    const Agreement agreement = compare_translations({{{*backend, translator, whole}, {*backend, translator, cut}}});
    REQUIRE(agreement.differences.size() == 1);
    CHECK(agreement.differences.front().divergence.position == cut[0].target_ids.size());
    CHECK(std::isinf(agreement.differences.front().gap));
    CHECK_FALSE(agreement.holds(1e9));
}
