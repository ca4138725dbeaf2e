#include "model/config.h"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "io/config_reader.h"
#include "model/parameters.h"
#include "support/check.h"

namespace headscope {

namespace {

using nlohmann::json;

template <class Enum>
using Names = std::vector<std::pair<const char*, Enum>>;

const Names<Architecture> kArchitectures = {{"encoder-decoder", Architecture::EncoderDecoder}};
const Names<NormPlacement> kNorms = {{"post", NormPlacement::Post}, {"pre", NormPlacement::Pre}};
const Names<Positions> kPositions = {{"sinusoid", Positions::Sinusoid}, {"learned", Positions::Learned}};
const Names<SinusoidLayout> kLayouts = {{"interleaved", SinusoidLayout::Interleaved},
                                        {"halves_minus_one", SinusoidLayout::HalvesMinusOne},
                                        {"halves", SinusoidLayout::Halves}};
const Names<Tying> kTyings = {{"all", Tying::All}, {"target_output", Tying::TargetOutput}, {"none", Tying::None}};
const Names<Activation> kActivations = {
    {"relu", Activation::Relu}, {"gelu", Activation::Gelu}, {"swish", Activation::Swish}};

// Past any size that check_model_config() lets through.
constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();

template <class Integer>
void read_integer(ConfigReader& reader, const char* key, Integer& value) {
    value = static_cast<Integer>(reader.integer(key, value, 0, kMost));
}

template <class Enum>
const char* name_in(const Names<Enum>& names, Enum value) {
    for (const auto& [name, candidate] : names) {
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

ModelConfig parse_model_config(const json& object, const std::string& origin, const std::string& section) {
    ModelConfig config;
    ConfigReader reader(object, origin, section);
    int version = ModelConfig::kFormatVersion;
    read_integer(reader, "format_version", version);
    if (version != ModelConfig::kFormatVersion) {
        reader.fail("format_version", fmt::format("must be {}, found {}", ModelConfig::kFormatVersion, version));
    }
    config.architecture = reader.choice_of("architecture", kArchitectures, config.architecture);
    read_integer(reader, "encoder_layers", config.encoder_layers);
    read_integer(reader, "decoder_layers", config.decoder_layers);
    read_integer(reader, "d_model", config.d_model);
    read_integer(reader, "d_ff", config.d_ff);
    read_integer(reader, "heads", config.heads);
    if (config.heads > 0) {
        config.d_k = config.d_v = config.d_model / config.heads;
    }
    read_integer(reader, "d_k", config.d_k);
    read_integer(reader, "d_v", config.d_v);
    if (!(reader.has("d_k") && reader.has("d_v")) && config.heads > 0 && config.d_model % config.heads != 0) {
        throw Error(fmt::format("{}: d_model {} is no multiple of heads {}; give \"d_k\" and \"d_v\"", origin,
                                config.d_model, config.heads));
    }
    config.activation = reader.choice_of("activation", kActivations, config.activation);
    config.norm = reader.choice_of("norm", kNorms, config.norm);
    config.layer_norm_epsilon =
        static_cast<float>(reader.number("layer_norm_epsilon", config.layer_norm_epsilon, 0.0, 1.0));
    config.positions = reader.choice_of("positions", kPositions, config.positions);
    config.sinusoid_layout = reader.choice_of("sinusoid_layout", kLayouts, config.sinusoid_layout);
    read_integer(reader, "max_length", config.max_length);
    config.attention_bias = reader.boolean("attention_bias", config.attention_bias);
    config.output_bias = reader.boolean("output_bias", config.output_bias);
    config.tying = reader.choice_of("tying", kTyings, config.tying);
    config.scale_embedding = reader.boolean("scale_embedding", config.scale_embedding);
    read_integer(reader, "source_vocabulary", config.source_vocabulary);
    config.target_vocabulary = config.source_vocabulary;
    read_integer(reader, "target_vocabulary", config.target_vocabulary);
    read_integer(reader, "pad_id", config.pad_id);
    read_integer(reader, "bos_id", config.bos_id);
    read_integer(reader, "eos_id", config.eos_id);
    read_integer(reader, "unk_id", config.unk_id);
    reader.finish();
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
