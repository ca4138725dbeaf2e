// Hugging Face's GPT-2.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "import/formats.h"
#include "import/hugging_face.h"

namespace headscope {

namespace {

ModelConfig gpt2_network(const ForeignConfig& config) {
    ModelConfig net;
    net.architecture = Architecture::CausalLm;
    net.encoder_layers = 0;
    net.decoder_layers = static_cast<int>(config.integer("n_layer", 12, 1, 1024));
    net.d_model = config.integer("n_embd", 768, 1);
    net.feed_forward.d_ff = config.integer("n_inner", 4 * net.d_model, 1);
    set_heads(config.integer("n_head", 12, 1, 65535), config, "n_head", net);
    net.feed_forward.activation = activation_of(config, "activation_function", "gelu_new");
    net.norm.placement = NormPlacement::Pre;
    net.norm.epsilon = static_cast<float>(config.number("layer_norm_epsilon", 1e-5));
    net.positions.kind = Positions::Learned;
    net.max_length = config.integer("n_positions", 1024, 1, 65535);
    net.attention.bias = true;
    net.attention.score =
        config.boolean("scale_attn_weights", true) ? AttentionScore::ScaledDotProduct : AttentionScore::DotProduct;
    net.embedding.scale = false;
    net.embedding.tying = config.boolean("tie_word_embeddings", true) ? Tying::All : Tying::None;
    net.source_vocabulary = net.target_vocabulary = config.integer("vocab_size", 50257, 1);
    net.frame.pad_id = -1;
    net.frame.unk_id = -1;
    net.frame.eos_id = end_id(config, 50256);
    config.require("add_cross_attention", false);
    return net;
}

}  // namespace

TensorMap gpt2_tensors(const ModelConfig& net, const std::string& prefix, bool scores_by_layer) {
    TensorMap map;
    map.add({.theirs = prefix + "wte.weight",
             .ours = {"embedding.weight"},
             .copies = net.embedding.tying == Tying::All ? std::vector<std::string>{"lm_head.weight"}
                                                         : std::vector<std::string>{}});
    map.add({.theirs = "lm_head.weight", .ours = {"output.weight"}});
    map.add({.theirs = prefix + "wpe.weight", .ours = {"decoder.positions.weight"}});
    for (int i = 0; i < net.decoder_layers; ++i) {
        const std::string theirs = fmt::format("{}h.{}.", prefix, i);
        const std::string ours = fmt::format("decoder.layers.{}.", i);
        const std::string attention = ours + "self_attention.";
        for (const char* end : {"weight", "bias"}) {
            TensorRow row{.theirs = theirs + "attn.c_attn." + end, .ours = {}, .transposed = true};
            row.first_factor = scores_by_layer ? 1.0F / static_cast<float>(i + 1) : 1.0F;
            for (const char* part : {"q.", "k.", "v."}) {
                row.ours.push_back(attention + part + end);
            }
            map.add(std::move(row));
        }
        map.add_linear(theirs + "attn.c_proj", attention + "output", true);
        map.add_norm(theirs + "ln_1", attention + "norm");
        map.add_linear(theirs + "mlp.c_fc", ours + "feed_forward.inner", true);
        map.add_linear(theirs + "mlp.c_proj", ours + "feed_forward.outer", true);
        map.add_norm(theirs + "ln_2", ours + "feed_forward.norm");
        map.ignore(theirs + "attn.bias");  // the causal mask
        map.ignore(theirs + "attn.masked_bias");
    }
    map.add_norm(prefix + "ln_f", "decoder.norm");
    map.ignore("multiple_choice_head.summary.weight");
    map.ignore("multiple_choice_head.summary.bias");
    ignore_other_heads(map);
    return map;
}

ModelDirectory open_gpt2(const std::string& folder, const nlohmann::json& json) {
    Problems problems(folder);
    const ForeignConfig config(json, "config.json", problems);
    const bool scores_by_layer = config.boolean("scale_attn_by_inverse_layer_idx", false);
    return open_decoder(
        folder, config, problems, gpt2_network(config),
        {.begin = 50256,
         .prefix = "transformer.",
         .tensors = [=](const ModelConfig& net,
                        const std::string& prefix) { return gpt2_tensors(net, prefix, scores_by_layer); },
         .length_key = "n_positions"});
}

}  // namespace headscope
