#include <tuple>

#include <fmt/format.h>

#include "model/config_checks.h"
#include "model/convolution.h"
#include "support/check.h"

namespace headscope {

namespace {

void check_mixers(const ModelConfig& config, const std::string& origin) {
    const bool restricted =
        config.mixer.encoder == MixerKind::Restricted || config.mixer.decoder == MixerKind::Restricted;
    for (const auto& [key, mixer, has_stack] :
         {std::tuple("encoder_mixer", config.mixer.encoder, has_encoder(config)),
          std::tuple("decoder_mixer", config.mixer.decoder, has_decoder(config))}) {
        if (!has_stack && mixer != MixerKind::SelfAttention) {
            throw Error(
                fmt::format("{}: \"{}\" must be left out: this \"architecture\" has no such stack", origin, key));
        }
    }
    const bool all_attend = (!has_encoder(config) || attends(config, AttentionKind::EncoderSelf)) &&
                            (!has_decoder(config) || attends(config, AttentionKind::DecoderSelf));
    if (config.attention.score == AttentionScore::Additive && !config.attention.scale) {
        throw Error(
            fmt::format("{}: \"scale_attention\" must be left out with \"attention_score\" \"additive\"", origin));
    }
    if (!all_attend && config.positions.relative.kind != RelativePositions::None) {
        throw Error(
            fmt::format("{}: \"relative_positions\" must be \"none\" unless all mixers are \"self_attention\" or "
                        "\"restricted\"",
                        origin));
    }
    if (restricted != (config.mixer.window > 0)) {
        throw Error(fmt::format("{}: \"attention_window\" must be {}, found {}", origin,
                                restricted ? "at least 1 for \"restricted\""
                                           : "0 unless \"encoder_mixer\" or \"decoder_mixer\" is \"restricted\"",
                                config.mixer.window));
    }
}

void check_convolution(const ModelConfig& config, const std::string& origin) {
    const bool encodes = config.mixer.encoder == MixerKind::Convolution;
    const bool decodes = config.mixer.decoder == MixerKind::Convolution;
    if (encodes && config.mixer.convolution.kernel % 2 == 0) {
        throw Error(
            fmt::format("{}: \"convolution_kernel\" must be odd in an encoder, which reads as many positions "
                        "before as after, found {}",
                        origin, config.mixer.convolution.kernel));
    }
    const auto check_reach = [&](const char* stack, int layers, int sides) {
        const std::int64_t apart = convolution_span(config, layers - 1) / sides;
        if (apart >= config.max_length) {
            throw Error(
                fmt::format("{}: \"convolution_kernel\" {} with \"convolution_dilation\" {} reads {} positions "
                            "away in layer {} of the {}; only fewer than max_length, {}, make sense",
                            origin, config.mixer.convolution.kernel, config.mixer.convolution.dilation, apart, layers,
                            stack, config.max_length));
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
    if (config.mixer.bidirectional && !is_recurrent(config.mixer.encoder)) {
        throw Error(
            fmt::format("{}: \"bidirectional\" must be false unless \"encoder_mixer\" is \"lstm\" or \"gru\": a "
                        "decoder reads in one "
                        "direction",
                        origin));
    }
    if (config.mixer.bidirectional && config.d_model % 2 != 0) {
        throw Error(fmt::format("{}: \"d_model\" must be even for two directions, found {}", origin, config.d_model));
    }
    const bool alike = is_recurrent(config.mixer.encoder) && config.mixer.encoder == config.mixer.decoder &&
                       config.encoder_layers == config.decoder_layers;
    if (!config.attention.cross && (config.architecture != Architecture::EncoderDecoder || !alike)) {
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
    check(config.frame.mask_id >= 0, "mask_id", "the id of a piece");
    check(config.frame.target_begin.empty(), "target_begin", "[]");
    check(!config.frame.source_end.empty(), "source_end", "one token or more");
    check(config.max_length >= 2, "max_length", "at least 2");
}

void check_experts(const ModelConfig& config, const std::string& origin) {
    if (config.feed_forward.experts.count == 0) {
        if (config.feed_forward.experts.capacity > 0.0F) {
            throw Error(fmt::format("{}: \"expert_capacity\" must be 0 without \"experts\", found {}", origin,
                                    config.feed_forward.experts.capacity));
        }
        if (config.feed_forward.experts.per_token != ModelConfig{}.feed_forward.experts.per_token) {
            throw Error(fmt::format("{}: \"experts_per_token\" must be left out without \"experts\", found {}", origin,
                                    config.feed_forward.experts.per_token));
        }
        return;
    }
    if (config.feed_forward.experts.count == 1) {
        throw Error(fmt::format("{}: \"experts\" must be at least 2, or 0 for one feed-forward part, found 1", origin));
    }
    if (config.feed_forward.experts.per_token > config.feed_forward.experts.count) {
        throw Error(fmt::format("{}: \"experts_per_token\" must be between 1 and \"experts\", {}, found {}", origin,
                                config.feed_forward.experts.count, config.feed_forward.experts.per_token));
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
