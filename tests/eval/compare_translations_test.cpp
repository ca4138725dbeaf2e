#include "eval/compare_translations.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "infer/filler.h"
#include "infer/forced_scores.h"
#include "infer/forced_text.h"
#include "registry/registry.h"
#include "tests/infer/tiny_model.h"

using namespace headscope;

namespace {

const std::vector<std::string> kLines{"the small dog sees the big cat", "", "a cat sleeps on the mat"};

ModelConfig language_config(Architecture architecture) {
    ModelConfig config = tiny_config();
    config.architecture = architecture;
    const bool masked = architecture == Architecture::MaskedLm;
    (masked ? config.decoder_layers : config.encoder_layers) = 0;
    config.frame.mask_id = masked ? 4 : -1;
    return config;
}

DecodingOptions greedy() {
    return {.search = {.beam = 1, .max_extra = 6}};
}

// A small model on the CPU and on the oracle, with their translations of kLines.
struct Both {
    Agreement compare() const { return compare_translations({{{*cpu, first, a}, {*oracle, second, b}}}); }

    std::unique_ptr<Backend> cpu = open_device("cpu");
    std::unique_ptr<Backend> oracle = open_device("cpu:oracle");
    LoadedModel first = tiny_translator(*cpu);
    LoadedModel second = tiny_translator(*oracle);
    std::vector<TextResult> a = translate(first, kLines, greedy());
    std::vector<TextResult> b = translate(second, kLines, greedy());
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
    const TextResult& whole = both.a[2];
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
    const LoadedModel translator = tiny_translator(*backend);
    const auto whole = translate(translator, kLines, greedy());
    auto cut = whole;
    cut[0].target_ids.pop_back();
    const Agreement agreement = compare_translations({{{*backend, translator, whole}, {*backend, translator, cut}}});
    REQUIRE(agreement.differences.size() == 1);
    CHECK(agreement.differences.front().divergence.position == cut[0].target_ids.size());
    CHECK(std::isinf(agreement.differences.front().gap));
    CHECK_FALSE(agreement.holds(1e9));
}

TEST_CASE("where completions diverge, each device scores both candidates after the prompt") {
    const auto cpu = open_device("cpu");
    const auto oracle = open_device("cpu:oracle");
    const LoadedModel first = tiny_translator(*cpu, language_config(Architecture::CausalLm));
    const LoadedModel second = tiny_translator(*oracle, language_config(Architecture::CausalLm));
    const auto a = translate(first, kLines, greedy());
    auto b = translate(second, kLines, greedy());
    CHECK(compare_translations({{{*cpu, first, a}, {*oracle, second, b}}}).identical == 3);  // an empty prompt, too

    std::vector<std::int32_t>& altered = b[2].target_ids;
    REQUIRE(altered.size() > 2);
    const std::int32_t chosen = altered[2];
    const std::int32_t other = chosen == 5 ? 6 : 5;
    altered[2] = other;
    const Agreement agreement = compare_translations({{{*cpu, first, a}, {*oracle, second, b}}});
    CHECK(agreement.identical == 2);
    REQUIRE(agreement.differences.size() == 1);
    const Difference& difference = agreement.differences.front();
    CHECK(difference.sentence == 2);
    CHECK(difference.divergence.position == 2);

    Context ctx{.backend = *oracle};
    std::vector<std::int32_t> text(a[2].source_ids.begin() + 1, a[2].source_ids.end());
    text.insert(text.end(), a[2].target_ids.begin(), a[2].target_ids.begin() + 2);
    CandidateScores expected{};
    for (const std::int32_t token : {chosen, other}) {
        std::vector<std::int32_t> whole = text;
        whole.push_back(token);
        const auto forced = force_texts(ctx, second.models(), std::vector<std::vector<std::int32_t>>{whole}).front();
        expected[token == other ? 1 : 0] = forced[text.size()].log_probability;
    }
    for (const CandidateScores& device : difference.by_device) {
        CHECK(device[0] == Approx(expected[0]).margin(1e-4));
        CHECK(device[1] == Approx(expected[1]).margin(1e-4));
    }
    CHECK(difference.gap == Approx(std::abs(expected[0] - expected[1])).margin(1e-4));
}

TEST_CASE("of the masks that two devices fill in differently, the one with the largest gap counts") {
    const auto cpu = open_device("cpu");
    const LoadedModel translator = tiny_translator(*cpu, language_config(Architecture::MaskedLm));
    const ModelConfig& config = translator.model().config;
    const std::vector<std::int32_t> ids{config.frame.bos_id, 4, 7, 4, 8, 9, 4, config.frame.eos_id};
    const FilledText filled = Filler(*cpu, translator).fill(ids, 9, false);
    TextResult likeliest;
    likeliest.source_ids = ids;
    for (const MaskedPosition& mask : filled.masks) {
        likeliest.target_ids.push_back(mask.candidates.front().id);
    }
    TextResult others = likeliest;
    others.target_ids[0] = filled.masks[0].candidates[1].id;
    others.target_ids[2] = filled.masks[2].candidates[8].id;
    const std::vector<TextResult> first{likeliest, likeliest};
    const std::vector<TextResult> second{likeliest, others};
    const Agreement agreement = compare_translations({{{*cpu, translator, first}, {*cpu, translator, second}}});
    CHECK(agreement.identical == 1);
    REQUIRE(agreement.differences.size() == 1);
    const Difference& difference = agreement.differences.front();
    CHECK(difference.divergence.position == 2);
    const auto& candidates = filled.masks[2].candidates;
    CHECK(difference.by_device[0][0] == Approx(candidates[0].log_probability).margin(1e-4));
    CHECK(difference.by_device[0][1] == Approx(candidates[8].log_probability).margin(1e-4));
    CHECK(difference.gap == Approx(candidates[0].log_probability - candidates[8].log_probability).margin(1e-4));
}
