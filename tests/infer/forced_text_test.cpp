// Token probabilities of texts under language models.
#include "infer/forced_text.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "data/device_batch.h"
#include "infer/next_tokens.h"
#include "registry/registry.h"
#include "tests/house/open_options.h"
#include "tests/infer/forced_checks.h"
#include "tests/ops/devices.h"
#include "tiny_model.h"

using namespace headscope;
using Ids = std::vector<std::int32_t>;

namespace {

constexpr std::int32_t kForcedMask = 4;

ModelConfig language_config(Architecture architecture) {
    ModelConfig config = tiny_config();
    config.architecture = architecture;
    const bool masked = architecture == Architecture::MaskedLm;
    (masked ? config.decoder_layers : config.encoder_layers) = 0;
    config.frame.mask_id = masked ? kForcedMask : -1;
    config.max_length = 12;
    return config;
}

struct LanguageModel {
    LanguageModel(Backend& backend, const ModelConfig& config, std::uint64_t seed = 3)
        : parameters(backend, config, false), model(make_model(config, parameters)) {
        parameters.initialise(seed);
    }
    Parameters parameters;
    std::unique_ptr<Model> model;
};

// P of every token at a position of a block.
std::vector<double> at(Backend& backend, const Model& model, const Ids& block, std::size_t position) {
    const Example example{.target = block, .labels = block};
    Context ctx{.backend = backend};
    const DeviceBatch batch = upload(backend, make_batch(std::span(&example, 1), {}, 0, {.multiple = 1}));
    auto logits = to_host<double>(backend, model.logits(ctx, model.states(ctx, batch)).value());
    const auto classes = static_cast<std::size_t>(model.config().target_vocabulary);
    const auto row = std::span(logits).subspan(position * classes, classes);
    log_softmax(row);
    std::vector<double> probabilities;
    std::transform(row.begin(), row.end(), std::back_inserter(probabilities), [](double one) { return std::exp(one); });
    return probabilities;
}

// One pass per piece; `bounds` are those of the blocks in bos, the pieces and eos.
std::vector<ForcedToken> one_by_one(Backend& backend, const std::vector<const Model*>& models, const Ids& text,
                                    const std::vector<std::size_t>& bounds) {
    const ModelConfig& config = models.front()->config();
    Ids ids{config.frame.bos_id};
    ids.insert(ids.end(), text.begin(), text.end());
    ids.push_back(config.frame.eos_id);
    std::vector<ForcedToken> tokens;
    for (std::size_t block = 0; block + 1 < bounds.size(); ++block) {
        for (std::size_t position = bounds[block]; position < bounds[block + 1]; ++position) {
            Ids seen(ids.begin() + static_cast<std::ptrdiff_t>(bounds[block]),
                     ids.begin() + static_cast<std::ptrdiff_t>(bounds[block + 1]));
            std::size_t predicted = position;
            if (config.architecture == Architecture::MaskedLm) {
                if (position == 0 || position + 1 == ids.size()) {
                    continue;
                }
                seen[position - bounds[block]] = kForcedMask;
            } else {
                seen.resize(position - bounds[block] + 1);
                ++predicted;
            }
            std::vector<double> mean(static_cast<std::size_t>(config.target_vocabulary));
            for (const Model* model : models) {
                const std::vector<double> own = at(backend, *model, seen, position - bounds[block]);
                std::transform(own.begin(), own.end(), mean.begin(), mean.begin(),
                               [&](double one, double sum) { return sum + one / static_cast<double>(models.size()); });
            }
            const auto best = std::max_element(mean.begin(), mean.end());
            tokens.push_back({std::log(mean[static_cast<std::size_t>(ids[predicted])]), std::log(*best),
                              best - mean.begin() == ids[predicted]});
        }
    }
    return tokens;
}

// Of 30, 3, 0 and 10 pieces, and the bounds of their blocks of at most 12.
const std::vector<std::size_t> kLengths = {30, 3, 0, 10};
const std::vector<std::vector<std::size_t>> kCausalBounds = {{0, 10, 20, 31}, {0, 4}, {0, 1}, {0, 11}};
const std::vector<std::vector<std::size_t>> kMaskedBounds = {{0, 10, 21, 32}, {0, 5}, {}, {0, 12}};

std::vector<Ids> texts() {
    std::vector<Ids> texts;
    for (const std::size_t length : kLengths) {
        texts.emplace_back();
        for (std::size_t i = 0; i < length; ++i) {
            texts.back().push_back(5 + static_cast<std::int32_t>((7 * i + 3 * length) % 35));
        }
    }
    return texts;
}

}  // namespace

TEST_CASE("each piece of a text has the probability of a pass over what the model sees", "[forced_text]") {
    const Architecture family = GENERATE(Architecture::CausalLm, Architecture::MaskedLm);
    const auto& bounds = family == Architecture::CausalLm ? kCausalBounds : kMaskedBounds;
    for (const std::string& id : conformance::devices_under_test()) {
        CAPTURE(id, family);
        const auto backend = open_device(id, environment_options());
        const LanguageModel one(*backend, language_config(family));
        const LanguageModel other(*backend, language_config(family), 4);
        Context ctx{.backend = *backend};
        for (const auto& models : {std::vector<const Model*>{one.model.get()}, {one.model.get(), other.model.get()}}) {
            CAPTURE(models.size());
            const std::vector<Ids> all = texts();
            const auto together = force_texts(ctx, models, all, {.batch_tokens = 64, .logit_rows = 5});
            const auto alone = force_texts(ctx, models, all, {.batch_tokens = 1, .logit_rows = 1});
            REQUIRE(together.size() == all.size());
            for (std::size_t i = 0; i < all.size(); ++i) {
                CAPTURE(i);
                check_same(together[i], one_by_one(*backend, models, all[i], bounds[i]));
                check_same(alone[i], together[i]);
            }
        }
    }
}

TEST_CASE("a completion has the probability that a search found", "[forced_text]") {
    for (const std::string& id : conformance::devices_under_test()) {
        CAPTURE(id);
        const auto backend = open_device(id, environment_options());
        ModelConfig config = language_config(Architecture::CausalLm);
        config.max_length = 24;
        const LoadedModel translator = tiny_translator(*backend, config);
        Context ctx{.backend = *backend};
        for (const std::string prompt : {"", "the small dog"}) {
            const TextResult found =
                translate_line(translator, prompt, {.search = {.beam = 1, .length_penalty = 0.0, .max_extra = 7}});
            Ids text(found.source_ids.begin() + 1, found.source_ids.end());
            text.insert(text.end(), found.target_ids.begin(), found.target_ids.end());
            if (text.back() == config.frame.eos_id) {
                text.pop_back();
            }
            const auto forced = force_texts(ctx, translator.models(), std::vector<Ids>{text}).front();
            const std::vector<double>& searched = found.n_best.front().token_log_probabilities;
            REQUIRE(searched.size() >= 2);
            for (std::size_t i = 0; i < searched.size(); ++i) {
                CHECK(forced.at(found.source_ids.size() - 1 + i).log_probability == Approx(searched[i]).margin(1e-4));
            }
        }
    }
}
