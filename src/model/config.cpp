#include "model/config.h"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "model/parameters.h"
#include "support/check.h"

namespace headscope {

namespace {

using nlohmann::json;

template <class Enum>
using Names = std::vector<std::pair<Enum, const char*>>;

const Names<Architecture> kArchitectures = {{Architecture::EncoderDecoder, "encoder-decoder"}};
const Names<NormPlacement> kNorms = {{NormPlacement::Post, "post"}, {NormPlacement::Pre, "pre"}};
const Names<Positions> kPositions = {{Positions::Sinusoid, "sinusoid"}, {Positions::Learned, "learned"}};
const Names<SinusoidLayout> kLayouts = {{SinusoidLayout::Interleaved, "interleaved"},
                                        {SinusoidLayout::HalvesMinusOne, "halves_minus_one"},
                                        {SinusoidLayout::Halves, "halves"}};
const Names<Tying> kTyings = {{Tying::All, "all"}, {Tying::TargetOutput, "target_output"}, {Tying::None, "none"}};
const Names<Activation> kActivations = {
    {Activation::Relu, "relu"}, {Activation::Gelu, "gelu"}, {Activation::Swish, "swish"}};

// Reads one JSON object key by key and remembers which keys it was asked for.
class Reader {
public:
    Reader(const json& object, const std::string& origin) : object_(object), origin_(origin) {
        if (!object.is_object()) {
            throw Error(
                fmt::format("{}: the model configuration is to be a JSON object, found {}", origin, object.dump()));
        }
    }

    bool has(const char* key) const { return object_.contains(key); }

    template <class Integer>
    void integer(const char* key, Integer& value) {
        if (const json* found = find(key)) {
            constexpr std::int64_t kLow = std::numeric_limits<Integer>::min();
            constexpr std::int64_t kHigh = std::numeric_limits<Integer>::max();
            const bool fits = found->is_number_unsigned()
                                  ? found->get<std::uint64_t>() <= std::uint64_t{kHigh}
                                  : found->is_number_integer() && found->get<std::int64_t>() >= kLow &&
                                        found->get<std::int64_t>() <= kHigh;
            if (!fits) {
                fail(key, "a whole number", *found);
            }
            value = found->get<Integer>();
        }
    }

    void number(const char* key, float& value) {
        if (const json* found = find(key)) {
            if (!found->is_number()) {
                fail(key, "a number", *found);
            }
            value = found->get<float>();
        }
    }

    void boolean(const char* key, bool& value) {
        if (const json* found = find(key)) {
            if (!found->is_boolean()) {
                fail(key, "true or false", *found);
            }
            value = found->get<bool>();
        }
    }

    template <class Enum>
    void choice(const char* key, const Names<Enum>& names, Enum& value) {
        const json* found = find(key);
        if (found == nullptr) {
            return;
        }
        std::string expected;
        for (const auto& [candidate, name] : names) {
            if (found->is_string() && found->get<std::string>() == name) {
                value = candidate;
                return;
            }
            expected += fmt::format("{}\"{}\"", expected.empty() ? "" : " or ", name);
        }
        fail(key, expected, *found);
    }

    void finish() const {
        for (const auto& [key, value] : object_.items()) {
            if (!asked_.contains(key)) {
                std::string known;
                for (const std::string& name : asked_) {
                    known += (known.empty() ? "" : ", ") + name;
                }
                throw Error(fmt::format("{}: unknown key \"{}\" in the model configuration; known are {}", origin_, key,
                                        known));
            }
        }
    }

    [[noreturn]] void fail(const char* key, const std::string& expected, const json& found) const {
        throw Error(fmt::format("{}: \"{}\" is to be {}, found {}", origin_, key, expected, found.dump()));
    }

private:
    const json* find(const char* key) {
        asked_.insert(key);
        const auto found = object_.find(key);
        return found == object_.end() ? nullptr : &*found;
    }

    const json& object_;
    const std::string& origin_;
    std::set<std::string> asked_;
};

template <class Enum>
const char* name_in(const Names<Enum>& names, Enum value) {
    for (const auto& [candidate, name] : names) {
        if (candidate == value) {
            return name;
        }
    }
    HEADSCOPE_CHECK(false, "a value without a name");
}

// The shortest decimal that reads back as the same float: 1e-06 and not 9.999999974752427e-07.
double shortest(float value) {
    return std::stod(fmt::format("{}", value));
}

}  // namespace

ModelConfig parse_model_config(const json& object, const std::string& origin) {
    ModelConfig config;
    Reader read(object, origin);
    int version = ModelConfig::kFormatVersion;
    read.integer("format_version", version);
    if (version != ModelConfig::kFormatVersion) {
        read.fail("format_version", std::to_string(ModelConfig::kFormatVersion), version);
    }
    read.choice("architecture", kArchitectures, config.architecture);
    read.integer("encoder_layers", config.encoder_layers);
    read.integer("decoder_layers", config.decoder_layers);
    read.integer("d_model", config.d_model);
    read.integer("d_ff", config.d_ff);
    read.integer("heads", config.heads);
    if (config.heads > 0) {
        config.d_k = config.d_v = config.d_model / config.heads;
    }
    read.integer("d_k", config.d_k);
    read.integer("d_v", config.d_v);
    if (!(read.has("d_k") && read.has("d_v")) && config.heads > 0 && config.d_model % config.heads != 0) {
        throw Error(fmt::format("{}: d_model {} is no multiple of heads {}; give \"d_k\" and \"d_v\"", origin,
                                config.d_model, config.heads));
    }
    read.choice("activation", kActivations, config.activation);
    read.choice("norm", kNorms, config.norm);
    read.number("layer_norm_epsilon", config.layer_norm_epsilon);
    read.choice("positions", kPositions, config.positions);
    read.choice("sinusoid_layout", kLayouts, config.sinusoid_layout);
    read.integer("max_length", config.max_length);
    read.boolean("attention_bias", config.attention_bias);
    read.boolean("output_bias", config.output_bias);
    read.choice("tying", kTyings, config.tying);
    read.boolean("scale_embedding", config.scale_embedding);
    read.integer("source_vocabulary", config.source_vocabulary);
    config.target_vocabulary = config.source_vocabulary;
    read.integer("target_vocabulary", config.target_vocabulary);
    read.integer("pad_id", config.pad_id);
    read.integer("bos_id", config.bos_id);
    read.integer("eos_id", config.eos_id);
    read.integer("unk_id", config.unk_id);
    read.finish();
    return config;
}

json to_json(const ModelConfig& config) {
    return {{"format_version", ModelConfig::kFormatVersion},
            {"architecture", name_in(kArchitectures, config.architecture)},
            {"encoder_layers", config.encoder_layers},
            {"decoder_layers", config.decoder_layers},
            {"d_model", config.d_model},
            {"d_ff", config.d_ff},
            {"heads", config.heads},
            {"d_k", config.d_k},
            {"d_v", config.d_v},
            {"activation", name_in(kActivations, config.activation)},
            {"norm", name_in(kNorms, config.norm)},
            {"layer_norm_epsilon", shortest(config.layer_norm_epsilon)},
            {"positions", name_in(kPositions, config.positions)},
            {"sinusoid_layout", name_in(kLayouts, config.sinusoid_layout)},
            {"max_length", config.max_length},
            {"attention_bias", config.attention_bias},
            {"output_bias", config.output_bias},
            {"tying", name_in(kTyings, config.tying)},
            {"scale_embedding", config.scale_embedding},
            {"source_vocabulary", config.source_vocabulary},
            {"target_vocabulary", config.target_vocabulary},
            {"pad_id", config.pad_id},
            {"bos_id", config.bos_id},
            {"eos_id", config.eos_id},
            {"unk_id", config.unk_id}};
}

}  // namespace headscope
