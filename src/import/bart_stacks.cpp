#include <fmt/format.h>

#include "import/common.h"
#include "import/formats.h"

namespace headscope {

void read_bart_sizes(const ForeignConfig& config, ModelConfig& net, const BartSizes& usual) {
    net.encoder_layers = static_cast<int>(config.integer("encoder_layers", usual.layers, 1, 1024));
    net.decoder_layers = static_cast<int>(config.integer("decoder_layers", usual.layers, 1, 1024));
    net.d_model = config.integer("d_model", usual.d_model, 1);
    set_feed_forward(config.integer("encoder_ffn_dim", usual.d_ff, 1), config.integer("decoder_ffn_dim", usual.d_ff, 1),
                     net);
    const auto heads = [&](const char* key) { return config.integer(key, 16, 1, 65535); };
    set_heads(heads("encoder_attention_heads"), config, "encoder_attention_heads", net);
    set_decoder_heads(heads("decoder_attention_heads"), config, "decoder_attention_heads", net);
    net.max_length = config.integer("max_position_embeddings", usual.max_length, 1, 65535);
}

void add_bart_stacks(TensorMap& map, const ModelConfig& config, const std::string& prefix) {
    const auto attention = [&](const std::string& theirs, const std::string& ours) {
        for (const auto& [name, own] :
             {std::pair{"q_proj", "q"}, {"k_proj", "k"}, {"v_proj", "v"}, {"out_proj", "output"}}) {
            map.add_linear(theirs + "." + name, ours + "." + own);
        }
        for (const char* end : {"weight", "bias"}) {  // of fairseq's older files
            map.add({.theirs = fmt::format("{}.in_proj_{}", theirs, end),
                     .ours = {fmt::format("{}.q.{}", ours, end), fmt::format("{}.k.{}", ours, end),
                              fmt::format("{}.v.{}", ours, end)}});
        }
        map.add_norm(theirs + "_layer_norm", ours + ".norm");
    };
    for (const auto& [stack, layers] :
         {std::pair{"encoder", config.encoder_layers}, {"decoder", config.decoder_layers}}) {
        const std::string theirs_stack = prefix + stack;
        for (int i = 0; i < layers; ++i) {
            const std::string theirs = fmt::format("{}.layers.{}.", theirs_stack, i);
            const std::string ours = fmt::format("{}.layers.{}.", stack, i);
            attention(theirs + "self_attn", ours + "self_attention");
            if (stack == std::string_view("decoder")) {
                attention(theirs + "encoder_attn", ours + "cross_attention");
            }
            map.add_linear(theirs + "fc1", ours + "feed_forward.inner");
            map.add_linear(theirs + "fc2", ours + "feed_forward.outer");
            map.add_norm(theirs + "final_layer_norm", ours + "feed_forward.norm");
        }
        map.add_norm(theirs_stack + ".layernorm_embedding", fmt::format("{}.embedding_norm", stack));
        map.add_norm(theirs_stack + ".layer_norm", fmt::format("{}.norm", stack));
    }
}

}  // namespace headscope
