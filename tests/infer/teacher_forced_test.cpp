#include "infer/teacher_forced.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>

#include "data/batch.h"
#include "infer/forced_scores.h"
#include "registry/registry.h"
#include "support/check.h"
#include "tests/house/open_options.h"
#include "tests/infer/forced_checks.h"
#include "tests/infer/small_backend.h"
#include "tests/infer/tiny_model.h"
#include "tests/ops/devices.h"

using namespace headscope;

namespace {

std::vector<Example> random_pairs(std::int64_t count, std::int64_t longest) {
    const auto sources = random_sources(count, longest, 40, 7);
    const auto targets = random_sources(count, longest, 40, 8);
    std::vector<Example> pairs;
    for (std::size_t i = 0; i < sources.size(); ++i) {
        pairs.push_back({sources[i], targets[i]});
    }
    pairs.push_back({sources[0], {}});  // only eos
    return pairs;
}

// One pass per token over the previous tokens.
std::vector<ForcedToken> one_by_one(Context& ctx, const std::vector<const EncoderDecoder*>& models,
                                    const Example& pair) {
    const std::int32_t eos = models.front()->config().frame.eos_id;
    std::vector<std::int32_t> source = pair.source;
    source.push_back(eos);
    std::vector<std::int32_t> target = pair.target;
    target.push_back(eos);
    std::vector<ForcedToken> tokens;
    for (auto next = target.begin(); next != target.end(); ++next) {
        std::vector<double> scores(static_cast<std::size_t>(models.front()->config().target_vocabulary));
        for (const EncoderDecoder* model : models) {
            const auto own = next_log_probabilities(ctx, *model, source, {target.begin(), next});
            std::transform(own.begin(), own.end(), scores.begin(), scores.begin(),
                           [](double score, double sum) { return sum + std::exp(score); });
        }
        std::transform(scores.begin(), scores.end(), scores.begin(),
                       [&](double sum) { return std::log(sum / static_cast<double>(models.size())); });
        const auto best = std::max_element(scores.begin(), scores.end());
        tokens.push_back({scores[static_cast<std::size_t>(*next)], *best, best - scores.begin() == *next});
        const double others = std::accumulate(scores.begin(), scores.end(), -*best);
        tokens.back().logit_gap = *best - others / static_cast<double>(scores.size() - 1);
    }
    return tokens;
}

}  // namespace

TEST_CASE("each token of a target gets the probability and the gap of a pass over the previous tokens",
          "[teacher_forced]") {
    for (const std::string& id : conformance::devices_under_test()) {
        CAPTURE(id);
        const auto backend = open_device(id, environment_options());
        const TinyModel model(*backend, tiny_config());
        const TinyModel other(*backend, tiny_config(), 4);
        Context ctx{.backend = *backend};
        const std::vector<Example> pairs = random_pairs(3, 9);
        for (const auto& models : {std::vector{&model.transformer}, {&model.transformer, &other.transformer}}) {
            CAPTURE(models.size());
            const auto forced = force_targets(ctx, {models.begin(), models.end()}, pairs,
                                              {.batch_tokens = 32, .logit_rows = 5, .logit_gaps = true});
            REQUIRE(forced.size() == pairs.size());
            for (std::size_t i = 0; i < pairs.size(); ++i) {
                check_same(forced[i], one_by_one(ctx, models, pairs[i]));
            }
        }
    }
}

TEST_CASE("a token that the model would choose is reported as the likeliest", "[teacher_forced]") {
    const auto backend = open_device("cpu");
    const LoadedModel translator = tiny_translator(*backend);
    DecodingOptions greedy{.search = {.beam = 1, .max_extra = 6}};
    const TextResult translated = translate_line(translator, "the small dog sees the big cat", greedy);
    Example pair{translated.source_ids, translated.target_ids};
    pair.source.pop_back();
    if (translated.end == EndReason::EndOfSentence) {
        pair.target.pop_back();
    }
    Context ctx{.backend = *backend};
    const auto forced = force_targets(ctx, translator.models(), std::vector<Example>{pair});
    double sum = 0.0;
    for (std::size_t i = 0; i < translated.target_ids.size(); ++i) {
        CHECK(forced.front().at(i).likeliest);
        CHECK(forced.front()[i].log_probability == Approx(forced.front()[i].best_log_probability).margin(1e-5));
        sum += forced.front()[i].log_probability;
    }
    CHECK(sum == Approx(translated.log_probability).margin(1e-3));
}

TEST_CASE("batching changes nothing, and an empty list is allowed", "[teacher_forced]") {
    const auto backend = open_device("cpu");
    const TinyModel model(*backend, tiny_config());
    Context ctx{.backend = *backend};
    const std::vector<Example> pairs = random_pairs(12, 30);
    const auto together = force_targets(ctx, {&model.transformer}, pairs);
    const auto alone = force_targets(ctx, {&model.transformer}, pairs, {.batch_tokens = 1, .logit_rows = 1});
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        REQUIRE(together[i].size() == alone[i].size());
        for (std::size_t token = 0; token < alone[i].size(); ++token) {
            CHECK(together[i][token].log_probability == Approx(alone[i][token].log_probability).margin(1e-4));
        }
    }
    CHECK(force_targets(ctx, {&model.transformer}, {}).empty());
}

TEST_CASE("device memory is bounded by the batch, not by the number of pairs", "[teacher_forced]") {
    const auto peak_of = [](std::int64_t pairs) {
        const auto backend = open_device("cpu");
        const TinyModel model(*backend, tiny_config());
        Context ctx{.backend = *backend};
        std::vector<Example> all(static_cast<std::size_t>(pairs),
                                 Example{{5, 6, 7, 8, 9, 10, 11}, {12, 13, 14, 15, 16}});
        force_targets(ctx, {&model.transformer}, all, {.batch_tokens = 64, .logit_rows = 16});
        return backend->memory().peak;
    };
    CHECK(peak_of(800) == peak_of(8));
}

TEST_CASE("a forced batch that does not fit in the device's memory is split in halves", "[teacher_forced]") {
    constexpr std::int64_t kPlenty = 1 << 30;
    const std::vector<Example> pairs = random_pairs(12, 30);
    // The largest tensor for this many pairs and rows of logits at a time.
    const auto largest_of = [&](std::span<const Example> some, const ForcedLimits& limits) {
        SmallBackend backend(open_device("cpu"), kPlenty);
        const TinyModel model(backend, tiny_config(400));
        Context ctx{.backend = backend};
        backend.forget();
        force_targets(ctx, {&model.transformer}, some, limits);
        return backend.largest();
    };
    const auto forced_in = [&](std::int64_t most) {
        SmallBackend backend(open_device("cpu"), kPlenty);
        const TinyModel model(backend, tiny_config(400));
        const TinyModel other(backend, tiny_config(400), 4);
        Context ctx{.backend = backend};
        backend.allow(most);
        auto forced = force_targets(ctx, {&model.transformer}, pairs);
        const auto together = force_targets(ctx, {&model.transformer, &other.transformer}, pairs);
        forced.insert(forced.end(), together.begin(), together.end());
        return forced;
    };
    const std::int64_t all = largest_of(pairs, {});
    std::int64_t one = 0;
    std::int64_t one_row = 0;
    for (const Example& pair : pairs) {
        one = std::max(one, largest_of({&pair, 1}, {}));
        one_row = std::max(one_row, largest_of({&pair, 1}, {.logit_rows = 1}));
    }
    REQUIRE(all > one);
    REQUIRE(one > one_row);  // the logits, not the states
    const auto expected = forced_in(kPlenty);
    for (const std::int64_t most : {all - 1, one, one_row}) {
        CAPTURE(most);
        const auto found = forced_in(most);
        for (std::size_t i = 0; i < expected.size(); ++i) {
            check_same(found[i], expected[i]);
        }
    }
    CHECK_THROWS_AS(forced_in(one_row - 1), OutOfMemory);
}

TEST_CASE("a pair longer than the model's maximum is a caller's error", "[teacher_forced]") {
    const auto backend = open_device("cpu");
    const TinyModel model(*backend, tiny_config());
    Context ctx{.backend = *backend};
    const std::vector<Example> pairs{{std::vector<std::int32_t>(64, 5), {6}}};
    CHECK_THROWS_AS(force_targets(ctx, {&model.transformer}, pairs), CheckFailure);
}

TEST_CASE("a temperature divides the logits before the softmax", "[teacher_forced]") {
    constexpr double kTemperature = 1.7;
    for (const std::string& id : conformance::devices_under_test()) {
        CAPTURE(id);
        const auto backend = open_device(id, environment_options());
        ModelConfig config = tiny_config();
        config.output.bias = true;
        const TinyModel plain(*backend, config);
        config.output.temperature = kTemperature;
        const TinyModel tempered(*backend, config);
        const std::vector<Example> pairs = random_pairs(5, 9);
        Context ctx{.backend = *backend};
        const ForcedLimits limits{.temperature = kTemperature};
        const auto found = force_targets(ctx, {&plain.transformer}, pairs, limits);
        const auto same_model = force_targets(ctx, {&tempered.transformer}, pairs);
        const auto ensemble = force_targets(ctx, {&plain.transformer, &plain.transformer}, pairs, limits);
        const auto unchanged = force_targets(ctx, {&plain.transformer}, pairs);
        for (std::size_t i = 0; i < pairs.size(); ++i) {
            std::vector<std::int32_t> source = pairs[i].source;
            source.push_back(config.frame.eos_id);
            for (std::size_t at = 0; at < found[i].size(); ++at) {
                const std::vector<std::int32_t> before(pairs[i].target.begin(),
                                                       pairs[i].target.begin() + static_cast<std::ptrdiff_t>(at));
                const std::int32_t next = at < pairs[i].target.size() ? pairs[i].target[at] : config.frame.eos_id;
                const auto all = next_log_probabilities(ctx, plain.transformer, source, before);
                double sum = 0.0;
                for (const double one : all) {
                    sum += std::exp(one / kTemperature);
                }
                const double expected = all[static_cast<std::size_t>(next)] / kTemperature - std::log(sum);
                CHECK(found[i][at].log_probability == Approx(expected).margin(1e-4));
                CHECK(same_model[i][at].log_probability == Approx(expected).margin(1e-4));
                CHECK(ensemble[i][at].log_probability == Approx(expected).margin(1e-4));
                CHECK(found[i][at].likeliest == unchanged[i][at].likeliest);
            }
        }
    }
}
