// Filling in masked tokens.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>

#include "data/device_batch.h"
#include "infer/filler.h"
#include "infer/gap_filler.h"
#include "infer/next_tokens.h"
#include "model/masked_lm.h"
#include "registry/registry.h"
#include "support/check.h"
#include "tests/house/open_options.h"
#include "tests/ops/devices.h"
#include "text/tokenizer_training.h"
#include "tiny_model.h"

using namespace headscope;
using Catch::Matchers::Contains;
using Ids = std::vector<std::int32_t>;

namespace {

constexpr std::string_view kMask = "[MASK]";

LoadedModel tiny_masked(Backend& backend) {
    const auto tokenizer = std::make_shared<const Tokenizer>(
        Tokenizer::from_bytes(train_tokenizer({.sentences = {"the small dog sees the big cat, a cat sleeps.", "q z"},
                                               .vocabulary_size = 48,
                                               .control_pieces = {"<mask>"}}),
                              "test vocabulary"));
    ModelConfig config = tiny_config(tokenizer->size());
    config.architecture = Architecture::MaskedLm;
    config.decoder_layers = 0;
    config.max_length = 20;
    config.frame.mask_id = tokenizer->vocabulary().find("<mask>").value();
    const auto parameters = std::make_shared<Parameters>(backend, config, false);
    parameters->initialise(3);
    return {backend, ModelDirectory{"memory", config, tokenizer, tokenizer}, parameters};
}

// log P of every token at a position.
std::vector<double> at(Backend& backend, const Filler& filler, const Ids& ids, std::size_t position,
                       const Parameters& parameters) {
    const ModelConfig& config = filler.model().config;
    const MaskedLm model(config, parameters);
    const Example example{.target = ids, .labels = Ids(ids.size(), kNoTarget)};
    Context ctx{.backend = backend};
    const DeviceBatch batch = upload(backend, make_batch(std::span(&example, 1), {}, 0, {.multiple = 1}));
    auto logits = to_host<double>(backend, model.logits(ctx, model.states(ctx, batch)).value());
    const auto classes = static_cast<std::size_t>(config.target_vocabulary);
    const auto row = std::span(logits).subspan(position * classes, classes);
    log_softmax(row);
    return {row.begin(), row.end()};
}

}  // namespace

TEST_CASE("the candidates for a mask are the likeliest pieces of text there", "[filler]") {
    for (const std::string& id : conformance::devices_under_test()) {
        CAPTURE(id);
        const auto backend = open_device(id, environment_options());
        const LoadedModel models = tiny_masked(*backend);
        const Filler filler(*backend, models);
        const ModelConfig& config = filler.model().config;
        Parameters parameters(*backend, config, false);
        parameters.initialise(3);

        const Ids ids = filler.encode("the [MASK] cat, a [MASK].", kMask).ids;
        CHECK(std::count(ids.begin(), ids.end(), config.frame.mask_id) == 2);
        CHECK(ids.front() == config.frame.bos_id);
        CHECK(ids.back() == config.frame.eos_id);
        CHECK(filler.model().target_tokenizer->decode(ids) == "the cat, a.");
        const FilledText filled = filler.fill(ids, 5, false);
        REQUIRE(filled.masks.size() == 2);
        for (const MaskedPosition& mask : filled.masks) {
            CHECK(ids[mask.position] == config.frame.mask_id);
            const std::vector<double> expected = at(*backend, filler, ids, mask.position, parameters);
            REQUIRE(mask.candidates.size() == 5);
            CHECK(filled.ids[mask.position] == mask.candidates.front().id);
            double before = 0.0;
            for (const Candidate& candidate : mask.candidates) {
                CHECK(candidate.log_probability ==
                      Approx(expected[static_cast<std::size_t>(candidate.id)]).margin(1e-4));
                CHECK(candidate.log_probability <= before);
                CHECK(candidate.id > config.frame.mask_id);
                before = candidate.log_probability;
            }
            for (const Candidate& special : mask.special) {
                CHECK(special.id <= config.frame.mask_id);
                CHECK(special.log_probability == Approx(expected[static_cast<std::size_t>(special.id)]).margin(1e-4));
            }
            // No other piece of text is likelier than the fifth.
            CHECK(std::count_if(expected.begin() + config.frame.mask_id + 1, expected.end(),
                                [&](double one) { return one > before + 1e-4; }) <= 4);
        }

        // One by one: the most certain first, and the other given it.
        const FilledText slowly = filler.fill(ids, 5, true);
        const bool first =
            filled.masks[0].candidates[0].log_probability > filled.masks[1].candidates[0].log_probability;
        const MaskedPosition& certain = filled.masks[first ? 0 : 1];
        Ids half = ids;
        half[certain.position] = certain.candidates[0].id;
        CHECK(slowly.ids[certain.position] == certain.candidates[0].id);
        CHECK(slowly.ids == filler.fill(half, 5, false).ids);
    }
}

TEST_CASE("texts that cannot be filled in are errors", "[filler]") {
    const auto backend = open_device("cpu");
    const LoadedModel models = tiny_masked(*backend);
    const Filler filler(*backend, models);
    CHECK_THROWS_WITH(filler.encode("the dog", kMask), Contains("'the dog' has no [MASK]"));
    CHECK_THROWS_WITH(filler.encode("caf\xe9 [MASK]", kMask), Contains("UTF-8"));
    CHECK_THROWS_WITH(filler.encode("[MASK]" + std::string(60, 'a'), kMask), Contains("takes at most 20"));
}

TEST_CASE("words are put at the masks of a text that stays as it is", "[filler]") {
    const auto backend = open_device("cpu");
    const LoadedModel models = tiny_masked(*backend);
    const Filler filler(*backend, models);
    const Tokenizer& tokenizer = *filler.model().target_tokenizer;
    const auto with = [&](const std::string& text, const std::vector<std::string>& pieces,
                          std::string_view mark = kMask) {
        const MaskedText masked = filler.encode(text, mark);
        FilledText filled{.ids = masked.ids, .text = {}, .masks = {}};
        for (const std::string& piece : pieces) {
            const auto mask = std::find(filled.ids.begin(), filled.ids.end(), filler.model().config.frame.mask_id);
            filled.masks.push_back({static_cast<std::size_t>(mask - filled.ids.begin()), {}});
            *mask = tokenizer.vocabulary().find(piece).value();
        }
        return fill_in(tokenizer, text, masked.masks, filled);
    };
    const std::string word = std::string(kWordStart) + "cat";
    CHECK(with("[MASK], the  \u732b [MASK] \u732b.", {word, word}) == "cat, the  \u732b cat \u732b.");
    CHECK(with("the [MASK] [MASK]", {word, "s"}) == "the cats");
    CHECK(with("the[MASK]. ", {word}) == "the cat. ");
    CHECK(with(" [MASK][MASK]", {"s", word}) == " s cat");
    CHECK(with("the \u732b\t[MASK] [MASK]", {"s", "."}) == "the \u732bs.");
    // The model's own mask beside a mark.
    CHECK(with("<mask> [MASK], <mask>.", {word, "s", word}) == "cats, cat.");
    CHECK(with("the _ <mask> _", {word, "s", "."}, "_") == "the cats.");
    CHECK(with("the < <mask>", {word, word}, "<") == "the cat cat");
}

TEST_CASE("an output that does not write a gap says nothing of it", "[filler]") {
    const Tokenizer tokenizer =
        Tokenizer::from_bytes(train_tokenizer({.sentences = {"the small dog sees the big cat"},
                                               .vocabulary_size = 40,
                                               .control_pieces = {"<extra_id_0>", "<extra_id_1>"}}),
                              "test vocabulary");
    const Ids sentinels{tokenizer.vocabulary().find("<extra_id_0>").value(),
                        tokenizer.vocabulary().find("<extra_id_1>").value()};
    const Ids word = tokenizer.encode("dog");
    Ids output = word;
    output.insert(output.begin(), sentinels.front());
    std::vector<double> log_probabilities(output.size(), -1.0);
    std::vector<std::vector<GapCandidate>> gaps;
    add_gap_candidates(tokenizer, sentinels, output, log_probabilities, gaps);
    REQUIRE(gaps.size() == 2);
    REQUIRE(gaps[0].size() == 1);
    CHECK(gaps[0].front().ids == word);
    CHECK(gaps[0].front().log_probability == Approx(-1.0 * static_cast<double>(word.size())));
    CHECK(gaps[1].empty());
    output.push_back(sentinels.back());  // which fills it with nothing
    log_probabilities.push_back(-2.0);
    add_gap_candidates(tokenizer, sentinels, output, log_probabilities, gaps);
    CHECK(gaps[0].size() == 1);
    REQUIRE(gaps[1].size() == 1);
    CHECK(gaps[1].front().text.empty());
    output.push_back(sentinels.front());  // again
    output.insert(output.end(), word.begin(), word.end());
    log_probabilities.resize(output.size(), -1.0);
    add_gap_candidates(tokenizer, sentinels, output, log_probabilities, gaps);
    REQUIRE(gaps[0].size() == 2);
    CHECK(gaps[0].back().ids.size() == 2 * word.size());
}
