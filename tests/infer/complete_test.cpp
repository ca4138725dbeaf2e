// Completing prompts with a causal language model.
#include <catch2/catch.hpp>

#include <algorithm>
#include <numeric>

#include "infer/loaded_model.h"
#include "infer/next_tokens.h"
#include "model/causal_lm.h"
#include "registry/registry.h"
#include "support/check.h"
#include "tests/house/open_options.h"
#include "tests/ops/devices.h"
#include "tiny_model.h"

using namespace headscope;
using Catch::Matchers::Contains;

namespace {

ModelConfig causal_config() {
    ModelConfig config = tiny_config();
    config.architecture = Architecture::CausalLm;
    config.encoder_layers = 0;
    config.max_length = 24;
    return config;
}

DecodingOptions greedy(std::int64_t tokens) {
    return {.search = {.beam = 1, .length_penalty = 0.0, .max_extra = tokens}};
}

// Greedy completion by whole passes, without a cache.
std::vector<std::int32_t> uncached(Backend& backend, const LoadedModel& translator, std::vector<std::int32_t> ids,
                                   std::int64_t tokens) {
    const ModelConfig& config = translator.model().config;
    const CausalLm model(config, translator.parameters());
    const std::vector<std::int32_t> forbidden = token_rules(config, {}).forbidden;
    std::vector<std::int32_t> written;
    for (std::int64_t step = 0; step < tokens; ++step) {
        const Example example{.target = ids, .labels = std::vector<std::int32_t>(ids.size(), kNoTarget)};
        const DeviceBatch batch = upload(backend, make_batch(std::span(&example, 1), {}, 0, {.multiple = 1}));
        Context ctx{.backend = backend};
        const auto logits = to_host<double>(backend, model.logits(ctx, model.states(ctx, batch)).value());
        const auto row = std::span(logits).last(static_cast<std::size_t>(config.target_vocabulary));
        std::int32_t best = -1;
        for (std::int32_t id = 0; id < config.target_vocabulary; ++id) {
            const bool allowed = std::find(forbidden.begin(), forbidden.end(), id) == forbidden.end();
            if (allowed && (id != config.frame.eos_id || step > 0) &&
                (best < 0 || row[static_cast<std::size_t>(id)] > row[static_cast<std::size_t>(best)])) {
                best = id;
            }
        }
        ids.push_back(best);
        written.push_back(best);
        if (best == config.frame.eos_id) {
            break;
        }
    }
    return written;
}

const std::vector<std::string> kPrompts = {"the small dog", "", "a cat", "the big dog sees the", "the small cat"};

}  // namespace

TEST_CASE("a completion is the likeliest token after token, whatever its batch", "[complete]") {
    for (const std::string& id : conformance::devices_under_test()) {
        CAPTURE(id);
        const auto backend = open_device(id, environment_options());
        const LoadedModel translator = tiny_translator(*backend, causal_config());
        const auto together = translate(translator, kPrompts, greedy(7));
        for (std::size_t i = 0; i < kPrompts.size(); ++i) {
            INFO(kPrompts[i]);
            const TextResult& found = together[i];
            REQUIRE(found.problem.empty());
            CHECK(found.source_ids.front() == translator.model().config.frame.bos_id);
            CHECK(found.target_ids == uncached(*backend, translator, found.source_ids, 7));
            CHECK(translate_line(translator, kPrompts[i], greedy(7)).target_ids == found.target_ids);
            const std::vector<double>& each = found.n_best.front().token_log_probabilities;
            REQUIRE(each.size() == found.target_ids.size());
            CHECK(std::accumulate(each.begin(), each.end(), 0.0) == Approx(found.log_probability));
            const Tokenizer& tokenizer = *translator.model().target_tokenizer;
            std::vector<std::int32_t> all = found.source_ids;
            all.insert(all.end(), found.target_ids.begin(), found.target_ids.end());
            CHECK(tokenizer.decode(found.source_ids) + found.text == tokenizer.decode(all));
        }
    }
}

TEST_CASE("a completion ends at its limit, at a stop text or where the context is full", "[complete]") {
    const auto backend = open_device("cpu");
    const LoadedModel translator = tiny_translator(*backend, causal_config());
    const TextResult long_one = translate_line(translator, "the small dog", greedy(1000));
    const auto all = static_cast<std::int64_t>(long_one.source_ids.size() + long_one.target_ids.size());
    CHECK((long_one.end == EndReason::EndOfSentence || all == 24 + 1));

    const TextResult whole = translate_line(translator, "the small dog", greedy(8));
    REQUIRE(whole.text.size() > 3);
    DecodingOptions stopping = greedy(8);
    stopping.search.stop = {"no such text", whole.text.substr(2, 1)};
    const TextResult stopped = translate_line(translator, "the small dog", stopping);
    CHECK(stopped.end == EndReason::Stop);
    CHECK(stopped.text == whole.text.substr(0, whole.text.find(whole.text[2])));

    const std::string words(200, 'a');
    const TextResult rejected = translate(translator, {words}, greedy(8)).front();
    CHECK_THAT(rejected.problem, Contains("the model's context has 24: shorten the prompt"));
    CHECK_THAT(translate(translator, {"caf\xe9"}, greedy(8)).front().problem, Contains("UTF-8"));
}

TEST_CASE("a language model does not translate, and a masked one does not write", "[complete]") {
    const auto backend = open_device("cpu");
    CHECK_THROWS_WITH(tiny_translator(*backend, causal_config()).transformer(), Contains("use headscope complete"));
    ModelConfig masked = causal_config();
    masked.architecture = Architecture::MaskedLm;
    masked.frame.mask_id = 4;
    masked.encoder_layers = std::exchange(masked.decoder_layers, 0);
    CHECK_THROWS_WITH(tiny_translator(*backend, masked).generators(), Contains("use headscope fill"));
}
