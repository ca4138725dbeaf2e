#include <tuple>

#include <fmt/format.h>

#include "model/config_checks.h"
#include "model/convolution.h"
#include "support/check.h"

namespace headscope {

namespace {

void check_mixers(const ModelConfig& config, const std::string& origin) {
    const bool restricted =
        config.encoder_mixer == MixerKind::Restricted || config.decoder_mixer == MixerKind::Restricted;
    for (const auto& [key, mixer, has_stack] :
         {std::tuple("encoder_mixer", config.encoder_mixer, has_encoder(config)),
          std::tuple("decoder_mixer", config.decoder_mixer, has_decoder(config))}) {
        if (!has_stack && mixer != MixerKind::SelfAttention) {
            throw Error(
                fmt::format("{}: \"{}\" must be left out: this \"architecture\" has no such stack", origin, key));
        }
    }
    const bool all_attend = (!has_encoder(config) || attends(config, AttentionKind::EncoderSelf)) &&
                            (!has_decoder(config) || attends(config, AttentionKind::DecoderSelf));
    if (config.attention_score == AttentionScore::Additive && !config.scale_attention) {
        throw Error(
            fmt::format("{}: \"scale_attention\" must be left out with \"attention_score\" \"additive\"", origin));
    }
    if (!all_attend && config.relative_positions != RelativePositions::None) {
        throw Error(
            fmt::format("{}: \"relative_positions\" must be \"none\" unless all mixers are \"self_attention\" or "
                        "\"restricted\"",
                        origin));
    }
    if (restricted != (config.attention_window > 0)) {
        throw Error(fmt::format("{}: \"attention_window\" must be {}, found {}", origin,
                                restricted ? "at least 1 for \"restricted\""
                                           : "0 unless \"encoder_mixer\" or \"decoder_mixer\" is \"restricted\"",
                                config.attention_window));
    }
}

void check_convolution(const ModelConfig& config, const std::string& origin) {
    const bool encodes = config.encoder_mixer == MixerKind::Convolution;
    const bool decodes = config.decoder_mixer == MixerKind::Convolution;
    if (encodes && config.convolution_kernel % 2 == 0) {
        throw Error(
            fmt::format("{}: \"convolution_kernel\" must be odd in an encoder, which reads as many positions "
                        "before as after, found {}",
                        origin, config.convolution_kernel));
    }
    const auto check_reach = [&](const char* stack, int layers, int sides) {
        const std::int64_t apart = convolution_span(config, layers - 1) / sides;
        if (apart >= config.max_length) {
            throw Error(
                fmt::format("{}: \"convolution_kernel\" {} with \"convolution_dilation\" {} reads {} positions "
                            "away in layer {} of the {}; only fewer than max_length, {}, make sense",
                            origin, config.convolution_kernel, config.convolution_dilation, apart, layers, stack,
                            config.max_length));
        }
    };
    if (encodes) {
        check_reach("encoder", config.encoder_layers, 2);
    }
    if (decodes) {
        check_reach("decoder", config.decoder_layers, 1);
    }
}

bool is_recurrent(MixerKind kind) {
    return kind == MixerKind::Lstm || kind == MixerKind::Gru;
}

void check_recurrent(const ModelConfig& config, const std::string& origin) {
    if (config.bidirectional && !is_recurrent(config.encoder_mixer)) {
        throw Error(
            fmt::format("{}: \"bidirectional\" must be false unless \"encoder_mixer\" is \"lstm\" or \"gru\": a "
                        "decoder reads in one "
                        "direction",
                        origin));
    }
    if (config.bidirectional && config.d_model % 2 != 0) {
        throw Error(fmt::format("{}: \"d_model\" must be even for two directions, found {}", origin, config.d_model));
    }
    const bool alike = is_recurrent(config.encoder_mixer) && config.encoder_mixer == config.decoder_mixer &&
                       config.encoder_layers == config.decoder_layers;
    if (!config.cross_attention && (config.architecture != Architecture::EncoderDecoder || !alike)) {
        throw Error(
            fmt::format("{}: \"cross_attention\" must be true unless \"encoder_mixer\" and \"decoder_mixer\" are both "
                        "\"lstm\" or both "
                        "\"gru\", with as many \"encoder_layers\" as \"decoder_layers\"",
                        origin));
    }
}

void check_generation(const ModelConfig& config, const std::string& origin) {
    if (config.generation == Generation::LeftToRight) {
        return;
    }
    const auto check = [&](bool possible, const char* key, const char* needed) {
        if (!possible) {
            throw Error(fmt::format("{}: \"{}\" must be {} with \"generation\" \"mask_predict\"", origin, key, needed));
        }
    };
    check(config.architecture == Architecture::EncoderDecoder, "architecture", "\"encoder-decoder\"");
    check(attends(config, AttentionKind::DecoderSelf), "decoder_mixer",
          "\"self_attention\" or \"restricted\", which read in both directions,");
    check(config.mask_id >= 0, "mask_id", "the id of a piece");
    check(config.target_begin.empty(), "target_begin", "[]");
    check(!config.source_end.empty(), "source_end", "one token or more");
    check(config.max_length >= 2, "max_length", "at least 2");
}

void check_experts(const ModelConfig& config, const std::string& origin) {
    if (config.experts == 0) {
        if (config.expert_capacity > 0.0F) {
            throw Error(fmt::format("{}: \"expert_capacity\" must be 0 without \"experts\", found {}", origin,
                                    config.expert_capacity));
        }
        if (config.experts_per_token != ModelConfig{}.experts_per_token) {
            throw Error(fmt::format("{}: \"experts_per_token\" must be left out without \"experts\", found {}", origin,
                                    config.experts_per_token));
        }
        return;
    }
    if (config.experts == 1) {
        throw Error(fmt::format("{}: \"experts\" must be at least 2, or 0 for one feed-forward part, found 1", origin));
    }
    if (config.experts_per_token > config.experts) {
        throw Error(fmt::format("{}: \"experts_per_token\" must be between 1 and \"experts\", {}, found {}", origin,
                                config.experts, config.experts_per_token));
    }
}

}  // namespace

void check_sublayers(const ModelConfig& config, const std::string& origin) {
    check_mixers(config, origin);
    check_convolution(config, origin);
    check_recurrent(config, origin);
    check_generation(config, origin);
    check_experts(config, origin);
}

}  // namespace headscope
