// Every row of the table of the model's keys and every format: what a writer takes comes back, the rest is refused.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <regex>
#include <set>

#include <fmt/format.h>

#include "data/device_batch.h"
#include "import/export_model.h"
#include "import/open_model.h"
#include "model/config_rows.h"
#include "model/model.h"
#include "registry/registry.h"
#include "support/check.h"
#include "tests/house/files.h"
#include "tests/io/temporary_folder.h"

using namespace headscope;

namespace {

using nlohmann::json;

// These follow the tokenizers, which every format writes.
const std::set<std::string> kOfTokenizers = {"source_vocabulary", "target_vocabulary", "frame.pad_id", "frame.bos_id",
                                             "frame.eos_id",      "frame.unk_id",      "frame.mask_id"};
// A limit that changes no number, and biases of the output where a search adds -1e9.
const std::set<std::string> kUnseen = {"max_length", "frame.suppressed_ids"};

std::vector<json> others(const ConfigField<ModelConfig>& field, const json& value) {
    if (value.is_boolean()) {
        return {!value.get<bool>()};
    }
    if (value.is_number_integer()) {
        const auto number = value.get<std::int64_t>();
        return {2 * number, number + 1, 2};
    }
    if (value.is_number()) {
        return {0.125};  // so large that it changes the logits
    }
    if (value.is_array()) {
        return {{4}, {4, 5}};
    }
    std::vector<json> choices;
    const std::regex choice("`\"(\\w+)\"`");
    for (std::sregex_iterator at(field.values.begin(), field.values.end(), choice), end; at != end; ++at) {
        choices.emplace_back(at->str(1));
    }
    return choices;
}

// The configuration with another value of a key, and what else this asks for; none if there is no such model.
std::optional<ModelConfig> with(const ModelConfig& config, const std::string& key, const json& value) {
    for (const char* tying : {"", "embeddings", "none"}) {
        json keys = flat_model_keys(config);
        keys[key] = value;
        if (key == "attention.heads" || key == "d_model") {
            keys.erase("attention.d_k");
            keys.erase("attention.d_v");
        }
        if (*tying != '\0' && key != "embedding.tying") {
            keys["embedding.tying"] = tying;
        }
        try {
            ModelConfig changed = parse_model_config(keys, "changed");
            check_model_config(changed, "changed");
            return changed;
        } catch (const Error&) {
            continue;
        }
    }
    return std::nullopt;
}

// The logits of a short text, whose pieces all models have.
std::vector<float> logits(Backend& backend, const ModelConfig& config, const Parameters& parameters) {
    const std::vector<std::int32_t> ids{4, 9, 8, 6, 5};
    const std::vector<std::int32_t> lengths{5};
    const DeviceTokens text{.ids = make_from_host<std::int32_t>(backend, {1, 5}, DType::I32, ids),
                            .lengths = make_from_host<std::int32_t>(backend, {1}, DType::I32, lengths)};
    DeviceBatch batch{.sentences = 1, .target = text};
    if (config.architecture == Architecture::EncoderDecoder) {
        batch.source = text;
    }
    Context ctx{.backend = backend};
    const auto network = make_model(config, parameters);
    return to_host<float>(backend, network->logits(ctx, network->states(ctx, batch)).value());
}

// Whether the exported model has the same value of the key, or the same logits: biases of zero are none.
bool holds(Backend& backend, const ModelConfig& config, const Parameters& parameters, const std::string& key,
           const std::string& exported) {
    const ModelDirectory other = open_model(exported);
    if (flat_model_keys(config).at(key) == flat_model_keys(other.config).at(key)) {
        return true;
    }
    const std::vector<float> ours = logits(backend, config, parameters);
    const std::vector<float> theirs = logits(backend, other.config, *read_parameters(backend, other, DType::F32));
    return std::equal(ours.begin(), ours.end(), theirs.begin(), theirs.end(),
                      [](float one, float two) { return std::abs(one - two) < 1e-4F; });
}

struct Base {
    const char* model;  // in tests/import/models
    ExportFormat format;
};

// Returns the keys of which the format took another value.
std::set<std::string> taken_keys(const Base& base) {
    const auto backend = open_device("cpu");
    const ModelDirectory model = open_model(checkout_file(std::string("tests/import/models/") + base.model));
    const json usual = flat_model_keys(model.config);
    std::set<std::string> taken;
    for (const ConfigField<ModelConfig>& field : model_fields()) {
        const std::string& key = field.key;
        if (field.missing(model.config) != nullptr || kOfTokenizers.contains(key)) {
            continue;
        }
        for (const json& value : others(field, usual.at(key))) {
            const std::optional<ModelConfig> changed = with(model.config, key, value);
            if (value == usual.at(key) || !changed) {
                continue;
            }
            INFO(base.model << ": " << key << " " << value);
            ModelDirectory other = model;
            other.config = *changed;
            const TemporaryFolder folder;
            Parameters parameters(*backend, *changed, false);
            parameters.initialise(3);
            try {
                export_model(other, parameters, base.format, folder.file("exported"));
            } catch (const Error& error) {
                CHECK_THAT(error.what(),
                           Catch::Contains(fmt::format("\"{}\" is {}", key, flat_model_keys(*changed).at(key).dump())));
                continue;
            }
            taken.insert(key);
            CHECK((kUnseen.contains(key) || holds(*backend, *changed, parameters, key, folder.file("exported"))));
        }
    }
    return taken;
}

}  // namespace

TEST_CASE("a format holds a value of a key or refuses it", "[export]") {
    const auto base = GENERATE(values<Base>({{"hf-marian-tied", ExportFormat::HuggingFace},
                                             {"hf-gpt2", ExportFormat::HuggingFace},
                                             {"hf-bert", ExportFormat::HuggingFace},
                                             {"ct2-float32", ExportFormat::CTranslate2},
                                             {"marian-tied", ExportFormat::Marian}}));
    const std::set<std::string> taken = taken_keys(base);
    INFO(base.model);
    for (const char* key : {"feed_forward.d_ff", "feed_forward.activation", "attention.heads"}) {
        CHECK(taken.contains(key));
    }
    for (const char* key : {"mixer.encoder", "mixer.decoder", "norm.type", "feed_forward.gate", "output.scale"}) {
        CHECK_FALSE(taken.contains(key));
    }
}
