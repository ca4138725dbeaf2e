// Ensembles of several models.
#include "infer/ensemble.h"

#include <cmath>

#include <catch2/catch.hpp>

#include "fake_scorer.h"
#include "infer/loaded_model.h"
#include "registry/registry.h"
#include "support/check.h"
#include "tests/house/open_options.h"
#include "tests/io/temporary_folder.h"
#include "tests/ops/devices.h"
#include "tiny_model.h"

using namespace headscope;
using Catch::Matchers::Contains;

namespace {

constexpr std::int64_t kVocabulary = kFirstWord + 9;

std::unique_ptr<Scorer> ensemble_of(std::int64_t sentences, const std::vector<FakeScorer::Table>& tables) {
    std::vector<std::unique_ptr<Scorer>> members;
    for (const FakeScorer::Table& table : tables) {
        members.push_back(std::make_unique<FakeScorer>(sentences, kVocabulary, table));
    }
    return std::make_unique<EnsembleScorer>(std::move(members));
}

}  // namespace

TEST_CASE("an ensemble searches with the mean of its members' probabilities") {
    const int beam = GENERATE(1, 4);
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        const auto one = random_table(seed, kVocabulary);
        const auto two = random_table(seed + 1000, kVocabulary);
        const auto three = random_table(seed + 2000, kVocabulary);
        FakeScorer mean(1, kVocabulary, [&](std::int64_t sentence, const FakeScorer::Prefix& prefix) {
            std::vector<float> next;
            for (std::size_t i = 0; i < static_cast<std::size_t>(kVocabulary); ++i) {
                double sum = 0.0;
                for (const auto* table : {&one, &two, &three}) {
                    sum += std::exp(static_cast<double>((*table)(sentence, prefix)[i]));
                }
                next.push_back(static_cast<float>(std::log(sum / 3.0)));
            }
            return next;
        });
        const Hypothesis expected = search(mean, {15}, kBos, fake_rules(), {.beam = beam}).front();
        const auto ensemble = ensemble_of(1, {one, two, three});
        const Hypothesis found = search(*ensemble, {15}, kBos, fake_rules(), {.beam = beam}).front();
        CHECK(found.tokens == expected.tokens);
        CHECK(found.log_probability == Approx(expected.log_probability));
    }
}

TEST_CASE("an ensemble of one model twice equals that model", "[ensemble]") {
    const std::string device = GENERATE(from_range(conformance::devices_under_test()));
    INFO(device);
    const TemporaryFolder folder;
    const auto backend = open_device(device, environment_options());
    write_tiny_model(*backend, folder.file("one"));
    write_tiny_model(*backend, folder.file("other"), 4);
    const LoadedModel one(*backend, folder.file("one"));
    const LoadedModel twice(*backend, {folder.file("one"), folder.file("one")});
    const LoadedModel both(*backend, {folder.file("one"), folder.file("other")});
    const LoadedModel turned(*backend, {folder.file("other"), folder.file("one")});
    CHECK(both.generators().size() == 2);
    const DecodingOptions options{.search = {.max_extra = 6}};
    bool different = false;
    for (const std::string text : {"the small dog sees the big cat", "a cat sleeps on the mat", "the mat"}) {
        const TextResult alone = translate_line(one, text, options);
        const TextResult same = translate_line(twice, text, options);
        CHECK(same.target_ids == alone.target_ids);
        CHECK(same.log_probability == Approx(alone.log_probability).margin(1e-4));
        const TextResult mixed = translate_line(both, text, options);
        CHECK(translate_line(turned, text, options).target_ids == mixed.target_ids);
        different = different || mixed.target_ids != alone.target_ids;
    }
    CHECK(different);
}

TEST_CASE("models with different vocabularies are rejected, and the difference is named") {
    const TemporaryFolder folder;
    const auto backend = open_device("cpu");
    write_tiny_model(*backend, folder.file("one"));
    write_tiny_model(*backend, folder.file("other"), 3, "xylophone quiz jazz");
    CHECK_THROWS_WITH(LoadedModel(*backend, {folder.file("one"), folder.file("other")}),
                      Contains("one'") && Contains("other'") && Contains("different source vocabularies: piece "));

    ModelDirectory model = open_model_directory(folder.file("one"));
    ModelDirectory moved = model;
    moved.config.frame.source_begin = {5};
    CHECK_THROWS_WITH(check_can_be_averaged(model, moved), Contains("different tokens around their texts"));
    moved = model;
    moved.config.frame.bos_id = 2;
    CHECK_THROWS_WITH(check_can_be_averaged(model, moved), Contains("bos_id is 1 in one and 2 in the other"));
    CHECK_NOTHROW(check_can_be_averaged(model, model));
}
