#include "model/config.h"

#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "model/config_checks.h"
#include "model/config_rows.h"

namespace headscope {

using Config = ModelConfig;

bool has_encoder(const Config& config) {
    return config.architecture != Architecture::CausalLm;
}

bool has_decoder(const Config& config) {
    return config.architecture == Architecture::EncoderDecoder || config.architecture == Architecture::CausalLm;
}

Config of_stack(Config config, AttentionKind kind) {
    if (kind == AttentionKind::EncoderSelf || config.architecture != Architecture::EncoderDecoder) {
        return config;
    }
    config.feed_forward.d_ff =
        config.feed_forward.decoder_d_ff > 0 ? config.feed_forward.decoder_d_ff : config.feed_forward.d_ff;
    if (config.attention.decoder_heads > 0) {
        config.attention.d_k = config.attention.d_k * config.attention.heads / config.attention.decoder_heads;
        config.attention.d_v = config.attention.d_v * config.attention.heads / config.attention.decoder_heads;
        config.attention.heads = config.attention.decoder_heads;
    }
    return config;
}

std::string both_stacks(std::int64_t own, std::int64_t of_decoder) {
    return of_decoder == 0 || of_decoder == own ? std::to_string(own) : fmt::format("{} and {}", own, of_decoder);
}

MixerKind mixer_of(const Config& config, AttentionKind self) {
    return self == AttentionKind::EncoderSelf ? config.mixer.encoder : config.mixer.decoder;
}

bool reads_whole(const Config& config, AttentionKind self) {
    return self == AttentionKind::EncoderSelf || config.generation == Generation::MaskPredict;
}

bool attends(const Config& config, AttentionKind kind) {
    if (kind == AttentionKind::Cross) {
        return config.architecture == Architecture::EncoderDecoder && config.attention.cross;
    }
    const MixerKind mixer = mixer_of(config, kind);
    const bool has_stack = kind == AttentionKind::EncoderSelf ? has_encoder(config) : has_decoder(config);
    return has_stack && (mixer == MixerKind::SelfAttention || mixer == MixerKind::Restricted);
}

Config parse_model_config(const nlohmann::json& json, const std::string& origin, const std::string& section) {
    const nlohmann::json values = flat_model_keys(json, origin, section);
    Config config;
    ConfigReader reader(values, origin, section);
    const std::int64_t version = reader.integer("format_version", Config::kFormatVersion, 0, INT32_MAX);
    if (version < 1 || version > Config::kFormatVersion) {
        reader.fail("format_version", fmt::format("must be 1 to {}, found {}", Config::kFormatVersion, version));
    }
    read_fields(model_fields(), reader, config);
    if (version == 1 && config.architecture != Architecture::EncoderDecoder) {
        reader.fail("format_version", "must be 2 or more for this architecture, found 1");
    }
    reader.finish();
    return config;
}

std::string table_of_model_fields() {
    return table_of_fields(model_fields());
}

void check_model_config(const Config& config, const std::string& origin) {
    check_fields(model_fields(), config, origin);
    check_combinations(config, origin);
}

}  // namespace headscope
