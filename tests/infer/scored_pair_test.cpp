// Scores of given translations.

#include <cmath>

#include <catch2/catch.hpp>

#include "infer/forced_scores.h"
#include "infer/teacher_forced.h"
#include "registry/registry.h"
#include "tests/house/open_options.h"
#include "tests/infer/score_pairs.h"
#include "tests/io/temporary_folder.h"
#include "tests/ops/devices.h"
#include "tests/text/empty_texts.h"
#include "tiny_model.h"

using namespace headscope;
using Catch::Matchers::Contains;

TEST_CASE(
    "a translation behind a prefix, drawn, or without repetitions has the log probability of a teacher-forced pass") {
    const std::string device = GENERATE(from_range(conformance::devices_under_test()));
    const auto backend = open_device(device, environment_options());
    const LoadedModel translator = tiny_translator(*backend);
    Context ctx{.backend = *backend};
    const std::int32_t eos = translator.model().config.frame.eos_id;
    const std::vector<SearchOptions> searches{{.beam = 1, .max_extra = 12},
                                              {.beam = 3, .max_extra = 9, .n_best = 3, .no_repeat_ngram = 1},
                                              {.beam = 1, .max_extra = 12, .sample = true, .top_k = 9}};
    for (const SearchOptions& search : searches) {
        const TextResult found =
            translator
                .translate({{.text = "a cat sleeps on the mat", .prefix = "eine katze", .number = 3}},
                           {.search = search})
                .front();
        REQUIRE(found.n_best.size() == static_cast<std::size_t>(search.n_best));
        for (const Translation& translation : found.n_best) {
            Example pair{found.source_ids, translation.ids};
            pair.source.pop_back();
            if (pair.target.back() == eos) {
                pair.target.pop_back();
            }
            const auto forced = force_targets(ctx, translator.models(), std::vector<Example>{pair}).front();
            double sum = 0.0;
            for (std::size_t i = 0; i < translation.ids.size(); ++i) {
                sum += forced[i].log_probability;
            }
            INFO(device << ", " << translation.text);
            CHECK(translation.log_probability == Approx(sum).margin(1e-4));
        }
    }
}

TEST_CASE("a given translation is scored token by token, including eos") {
    const std::string device = GENERATE(from_range(conformance::devices_under_test()));
    INFO(device);
    const auto backend = open_device(device, environment_options());
    const LoadedModel translator = tiny_translator(*backend);
    Context ctx{.backend = *backend};
    const ModelDirectory& model = translator.model();
    const ScoredPair scored = score_pairs(ctx, translator, {"the small dog"}, {"der kleine hund"}, 1024).front();
    std::vector<std::int32_t> source = model.source_tokenizer->encode("the small dog");
    source.push_back(model.config.frame.eos_id);
    std::vector<std::int32_t> target = model.target_tokenizer->encode("der kleine hund");
    target.push_back(model.config.frame.eos_id);
    REQUIRE(scored.problem.empty());
    REQUIRE(scored.target_ids == target);
    double sum = 0.0;
    for (std::size_t i = 0; i < target.size(); ++i) {
        const auto next = next_log_probabilities(ctx, translator.transformer(), source,
                                                 {target.begin(), target.begin() + static_cast<std::ptrdiff_t>(i)});
        CHECK(scored.log_probabilities[i] == Approx(next[static_cast<std::size_t>(target[i])]).margin(1e-4));
        sum += scored.log_probabilities[i];
    }
    CHECK(scored.log_probability == Approx(sum));
    CHECK(scored.nll() == Approx(-sum / static_cast<double>(target.size())));
    CHECK_FALSE(scored.unknown);
}

TEST_CASE("a pair's scores do not depend on its batch") {
    const auto backend = open_device("cpu");
    const LoadedModel translator = tiny_translator(*backend);
    Context ctx{.backend = *backend};
    const std::vector<std::string> sources{"the small dog sees the big cat", "cat", "a cat sleeps on the mat"};
    const std::vector<std::string> targets{"die katze", "", "der kleine hund sieht die grosse katze"};
    const auto together = score_pairs(ctx, translator, sources, targets, 1024);
    for (std::size_t i = 0; i < sources.size(); ++i) {
        const ScoredPair alone = score_pairs(ctx, translator, {sources[i]}, {targets[i]}, 1024).front();
        CHECK(alone.log_probability == Approx(together[i].log_probability).margin(1e-4));
    }
    CHECK(together[1].target_ids.size() == 1);
}

TEST_CASE("an ensemble's probability of each token is the mean of its members'") {
    const TemporaryFolder folder;
    const auto backend = open_device("cpu");
    write_tiny_model(*backend, folder.file("one"));
    write_tiny_model(*backend, folder.file("other"), 4);
    Context ctx{.backend = *backend};
    const auto scores_of = [&](const std::vector<std::string>& models) {
        return score_pairs(ctx, LoadedModel(*backend, models), {"the small dog"}, {"der kleine hund"}, 1024).front();
    };
    const ScoredPair one = scores_of({folder.file("one")});
    const ScoredPair other = scores_of({folder.file("other")});
    const ScoredPair both = scores_of({folder.file("one"), folder.file("other")});
    for (std::size_t i = 0; i < both.log_probabilities.size(); ++i) {
        CHECK(std::exp(both.log_probabilities[i]) ==
              Approx((std::exp(one.log_probabilities[i]) + std::exp(other.log_probabilities[i])) / 2.0));
    }
}

TEST_CASE("an empty source is a problem, and an empty target consists of eos") {
    const auto backend = open_device("cpu");
    const LoadedModel translator = tiny_translator(*backend, 8);
    Context ctx{.backend = *backend};
    const std::vector<std::string> empty = empty_texts();
    const std::vector<std::string> words(empty.size(), "cat");
    for (const ScoredPair& pair : score_pairs(ctx, translator, empty, words, 1024)) {
        CHECK_THAT(pair.problem, Contains("source is empty"));
    }
    for (const ScoredPair& pair : score_pairs(ctx, translator, words, empty, 1024)) {
        CHECK(pair.target_ids == std::vector<std::int32_t>{translator.model().config.frame.eos_id});
        CHECK_FALSE(pair.unknown);
    }
}

TEST_CASE("pairs that cannot be scored have a problem") {
    const auto backend = open_device("cpu");
    const LoadedModel translator = tiny_translator(*backend, 8);
    Context ctx{.backend = *backend};
    const auto scored = score_pairs(ctx, translator, {"", "the cat", "\xff", "cat", "cat"},
                                    {"katze", "der kleine hund sieht die katze", "katze", "\u2603", "katze"}, 1024);
    CHECK_THAT(scored[0].problem, Contains("source is empty"));
    CHECK_THAT(scored[1].problem, Contains("the target has") && Contains("at most 8"));
    CHECK_THAT(scored[2].problem, Contains("the source: ") && Contains("UTF-8"));
    CHECK(scored[3].problem.empty());
    CHECK(scored[3].unknown);
    CHECK(scored[4].problem.empty());
    CHECK_FALSE(scored[4].unknown);
}
