// Which parameters belong to which block of the model map.
#include <fmt/format.h>

#include "figures/model_map.h"
#include "model/parameters.h"

namespace headscope {

std::string parameter_prefix(const ModelConfig& config, ModelBlock block, int layer) {
    const auto encoder = [&](const char* part) { return fmt::format("encoder.layers.{}.{}", layer - 1, part); };
    const auto decoder = [&](const char* part) { return fmt::format("decoder.layers.{}.{}", layer - 1, part); };
    const bool learned = config.positions == Positions::Learned;
    switch (block) {
        case ModelBlock::SourceEmbedding: return config.tying == Tying::All ? "embedding." : "source_embedding.";
        case ModelBlock::TargetEmbedding: return config.tying == Tying::All ? "embedding." : "target_embedding.";
        case ModelBlock::SourcePositions: return learned ? "encoder.positions." : "";
        case ModelBlock::TargetPositions: return learned ? "decoder.positions." : "";
        case ModelBlock::EncoderLayer: return encoder("");
        case ModelBlock::DecoderLayer: return decoder("");
        case ModelBlock::EncoderSelfAttention: return encoder("self_attention.");
        case ModelBlock::EncoderSelfNorm: return encoder("self_attention.norm.");
        case ModelBlock::EncoderFeedForward: return encoder("feed_forward.");
        case ModelBlock::EncoderFeedForwardNorm: return encoder("feed_forward.norm.");
        case ModelBlock::DecoderSelfAttention: return decoder("self_attention.");
        case ModelBlock::DecoderSelfNorm: return decoder("self_attention.norm.");
        case ModelBlock::CrossAttention: return decoder("cross_attention.");
        case ModelBlock::CrossNorm: return decoder("cross_attention.norm.");
        case ModelBlock::DecoderFeedForward: return decoder("feed_forward.");
        case ModelBlock::DecoderFeedForwardNorm: return decoder("feed_forward.norm.");
        case ModelBlock::EncoderNorm: return config.norm == NormPlacement::Pre ? "encoder.norm." : "";
        case ModelBlock::DecoderNorm: return config.norm == NormPlacement::Pre ? "decoder.norm." : "";
        case ModelBlock::Linear:
            return config.tying == Tying::None           ? "output."
                   : config.tying == Tying::TargetOutput ? "target_embedding."
                                                         : "embedding.";
        case ModelBlock::Softmax:
        case ModelBlock::ScaledDotProduct:
        case ModelBlock::MultiHead: break;
    }
    return "";
}

std::int64_t parameters_of(const ModelConfig& config, ModelBlock block, int layer) {
    const std::string prefix = parameter_prefix(config, block, layer);
    const bool sub_layer = block == ModelBlock::EncoderSelfAttention || block == ModelBlock::EncoderFeedForward ||
                           block == ModelBlock::DecoderSelfAttention || block == ModelBlock::CrossAttention ||
                           block == ModelBlock::DecoderFeedForward;
    const bool counted_before = (block == ModelBlock::TargetEmbedding && config.tying == Tying::All) ||
                                (block == ModelBlock::Linear && config.tying != Tying::None);
    std::int64_t count = 0;
    for (const ParameterSpec& spec : parameter_table(config)) {
        const bool is_norm = spec.name.find(".norm.", 0) != std::string::npos;
        if (!prefix.empty() && spec.name.starts_with(prefix) && !(sub_layer && is_norm) && !counted_before) {
            count += spec.shape.elements();
        }
        if (block == ModelBlock::Linear && counted_before && spec.name == "output.bias") {
            count += spec.shape.elements();
        }
    }
    return count;
}

std::string with_thousands(std::int64_t number) {
    return fmt::format("{}", fmt::group_digits(number));
}

}  // namespace headscope
