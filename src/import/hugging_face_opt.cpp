// Hugging Face's OPT.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "import/formats.h"
#include "import/hugging_face.h"

namespace headscope {

namespace {

ModelConfig opt_network(const ForeignConfig& config) {
    ModelConfig net;
    net.architecture = Architecture::CausalLm;
    net.encoder_layers = 0;
    net.decoder_layers = static_cast<int>(config.integer("num_hidden_layers", 12, 1, 1024));
    net.d_model = config.integer("hidden_size", 768, 1);
    net.feed_forward.d_ff = config.integer("ffn_dim", 3072, 1);
    net.feed_forward.activation = activation_of(config, "activation_function", "relu");
    net.attention.bias = net.feed_forward.bias = config.boolean("enable_bias", true);
    set_heads(config.integer("num_attention_heads", 12, 1, 65535), config, "num_attention_heads", net);
    const bool before = config.boolean("do_layer_norm_before", true);
    net.norm.placement = before ? NormPlacement::Pre : NormPlacement::Post;
    net.norm.epsilon = 1e-5F;
    net.positions.kind = Positions::Learned;
    net.max_length = config.integer("max_position_embeddings", 2048, 1);
    net.embedding.scale = false;
    net.embedding.tying = config.boolean("tie_word_embeddings", true) ? Tying::All : Tying::None;
    net.source_vocabulary = net.target_vocabulary = config.integer("vocab_size", 50272, 1);
    net.frame.pad_id = net.frame.unk_id = -1;
    net.frame.eos_id = end_id(config, 2);
    if (before) {
        config.require("_remove_final_layer_norm", false);
    } else {
        config.boolean("_remove_final_layer_norm", false);  // there is none
    }
    config.require("layer_norm_elementwise_affine", true);
    if (const std::int64_t width = config.integer("word_embed_proj_dim", net.d_model, 1); width != net.d_model) {
        config.problem("word_embed_proj_dim",
                       fmt::format("is {}: only \"hidden_size\", {}, is supported", width, net.d_model));
    }
    return net;
}

TensorMap opt_tensors(const ModelConfig& net, const std::string& model) {
    constexpr std::int64_t kFirstPosition = 2;
    const std::string prefix = model + "decoder.";
    TensorMap map;
    map.add({.theirs = prefix + "embed_tokens.weight",
             .ours = {"embedding.weight"},
             .copies = net.embedding.tying == Tying::All ? std::vector<std::string>{"lm_head.weight"}
                                                         : std::vector<std::string>{}});
    map.add({.theirs = "lm_head.weight", .ours = {"output.weight"}});
    map.add({.theirs = prefix + "embed_positions.weight",
             .ours = {"decoder.positions.weight"},
             .skipped_rows = kFirstPosition});
    for (int i = 0; i < net.decoder_layers; ++i) {
        const std::string theirs = fmt::format("{}layers.{}.", prefix, i);
        const std::string attention = fmt::format("decoder.layers.{}.self_attention.", i);
        const std::string feed_forward = fmt::format("decoder.layers.{}.feed_forward.", i);
        for (const auto& [their_part, part] :
             {std::pair{"q_proj", "q"}, {"k_proj", "k"}, {"v_proj", "v"}, {"out_proj", "output"}}) {
            map.add_linear(theirs + "self_attn." + their_part, attention + part);
        }
        map.add_norm(theirs + "self_attn_layer_norm", attention + "norm");
        map.add_linear(theirs + "fc1", feed_forward + "inner");
        map.add_linear(theirs + "fc2", feed_forward + "outer");
        map.add_norm(theirs + "final_layer_norm", feed_forward + "norm");
    }
    map.add_norm(prefix + "final_layer_norm", "decoder.norm");
    ignore_other_heads(map);
    return map;
}

}  // namespace

ModelDirectory open_opt(const std::string& folder, const nlohmann::json& json) {
    Problems problems(folder);
    const ForeignConfig config(json, "config.json", problems);
    return open_decoder(folder, config, problems, opt_network(config),
                        {.begin = 2, .prefix = "model.", .tensors = opt_tensors});
}

}  // namespace headscope
