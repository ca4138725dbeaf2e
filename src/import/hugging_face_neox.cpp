// Hugging Face's GPT-NeoX (Pythia) and GPT-J, whose attention and feed-forward of a layer read the same.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "import/formats.h"
#include "import/hugging_face.h"
#include "import/hugging_face_rotary.h"

namespace headscope {

namespace {

ModelConfig parallel_network(ParallelLayers parallel) {
    ModelConfig net;
    net.architecture = Architecture::CausalLm;
    net.encoder_layers = 0;
    net.norm.placement = NormPlacement::Pre;
    net.norm.parallel = parallel;
    net.positions.kind = Positions::None;
    net.embedding.scale = false;
    net.frame.pad_id = net.frame.bos_id = net.frame.unk_id = -1;
    return net;
}

Tying tying_of_output(const ForeignConfig& config) {
    return config.boolean("tie_word_embeddings", false) ? Tying::All : Tying::None;
}

ModelConfig neox_network(const ForeignConfig& config, Problems& problems) {
    const bool parallel = config.boolean("use_parallel_residual", true);
    ModelConfig net = parallel_network(parallel ? ParallelLayers::TwoNorms : ParallelLayers::None);
    net.decoder_layers = static_cast<int>(config.integer("num_hidden_layers", 44, 1, 1024));
    net.d_model = config.integer("hidden_size", 6144, 1);
    net.feed_forward.d_ff = config.integer("intermediate_size", 24576, 1);
    net.feed_forward.activation = activation_of(config, "hidden_act", "gelu");
    set_heads(config.integer("num_attention_heads", 64, 1, 65535), config, "num_attention_heads", net);
    net.attention.bias = config.boolean("attention_bias", true);
    net.max_length = config.integer("max_position_embeddings", 2048, 1);
    net.norm.epsilon = static_cast<float>(config.number("layer_norm_eps", 1e-5));
    net.embedding.tying = tying_of_output(config);
    net.source_vocabulary = net.target_vocabulary = config.integer("vocab_size", 50432, 1);
    net.frame.eos_id = end_id(config, 2);
    read_rotary(config, problems,
                {.partial = true, .share = 0.25, .base_key = "rotary_emb_base", .share_key = "rotary_pct"}, net);
    return net;
}

// Queries, keys and values of a head stand next to each other.
TensorMap neox_tensors(const ModelConfig& net, const std::string& prefix) {
    TensorMap map;
    const bool tied = net.embedding.tying == Tying::All;
    map.add({.theirs = prefix + "embed_in.weight",
             .ours = {"embedding.weight"},
             .copies = tied ? std::vector<std::string>{"embed_out.weight"} : std::vector<std::string>{}});
    map.add({.theirs = "embed_out.weight", .ours = {"output.weight"}});
    for (int i = 0; i < net.decoder_layers; ++i) {
        const std::string theirs = fmt::format("{}layers.{}.", prefix, i);
        const std::string attention = fmt::format("decoder.layers.{}.self_attention.", i);
        const std::string feed_forward = fmt::format("decoder.layers.{}.feed_forward.", i);
        for (const std::string end : {"weight", "bias"}) {
            map.add({.theirs = theirs + "attention.query_key_value." + end,
                     .ours = {attention + "q." + end, attention + "k." + end, attention + "v." + end},
                     .interleaved_heads = net.attention.heads});
        }
        map.add_linear(theirs + "attention.dense", attention + "output");
        map.add_norm(theirs + "input_layernorm", attention + "norm");
        map.add_linear(theirs + "mlp.dense_h_to_4h", feed_forward + "inner");
        map.add_linear(theirs + "mlp.dense_4h_to_h", feed_forward + "outer");
        map.add_norm(theirs + "post_attention_layernorm", feed_forward + "norm");
        map.ignore(theirs + "attention.bias");  // the causal mask
        map.ignore(theirs + "attention.masked_bias");
    }
    map.add_norm(prefix + "final_layer_norm", "decoder.norm");
    map.ignore("*rotary_emb.inv_freq");
    ignore_other_heads(map);
    return map;
}

ModelConfig gptj_network(const ForeignConfig& config) {
    ModelConfig net = parallel_network(ParallelLayers::OneNorm);
    net.decoder_layers = static_cast<int>(config.integer("n_layer", 28, 1, 1024));
    net.d_model = config.integer("n_embd", 4096, 1);
    net.feed_forward.d_ff = config.integer("n_inner", 4 * net.d_model, 1);
    net.feed_forward.activation = activation_of(config, "activation_function", "gelu_new");
    set_heads(config.integer("n_head", 16, 1, 65535), config, "n_head", net);
    net.max_length = config.integer("n_positions", 2048, 1);
    net.norm.epsilon = static_cast<float>(config.number("layer_norm_epsilon", 1e-5));
    net.positions.rotary.kind = Rotary::Plain;
    net.positions.rotary.pairs = RotaryPairs::Neighbours;
    // Null: as wide as the whole model, of which a head has its columns.
    const std::int64_t columns = config.is_null("rotary_dim") ? 0 : config.integer("rotary_dim", 64, 1);
    if (columns == 0) {
        config.problem("rotary_dim", "is null, which is not supported");
    }
    net.positions.rotary.columns = columns == net.attention.d_k ? 0 : columns;
    net.embedding.tying = tying_of_output(config);
    net.output.bias = true;
    net.source_vocabulary = net.target_vocabulary = config.integer("vocab_size", 50400, 1);
    net.frame.eos_id = end_id(config, 50256);
    return net;
}

TensorMap gptj_tensors(const ModelConfig& net, const std::string& prefix) {
    TensorMap map;
    const bool tied = net.embedding.tying == Tying::All;
    map.add({.theirs = prefix + "wte.weight",
             .ours = {"embedding.weight"},
             .copies = tied ? std::vector<std::string>{"lm_head.weight"} : std::vector<std::string>{}});
    map.add_linear("lm_head", "output");
    for (int i = 0; i < net.decoder_layers; ++i) {
        const std::string theirs = fmt::format("{}h.{}.", prefix, i);
        const std::string attention = fmt::format("decoder.layers.{}.self_attention.", i);
        const std::string feed_forward = fmt::format("decoder.layers.{}.feed_forward.", i);
        for (const auto& [their_part, part] :
             {std::pair{"q_proj", "q"}, {"k_proj", "k"}, {"v_proj", "v"}, {"out_proj", "output"}}) {
            map.add_linear(theirs + "attn." + their_part, attention + part);
        }
        map.add_norm(theirs + "ln_1", attention + "norm");
        map.add_linear(theirs + "mlp.fc_in", feed_forward + "inner");
        map.add_linear(theirs + "mlp.fc_out", feed_forward + "outer");
        map.ignore(theirs + "attn.bias");  // the causal mask
        map.ignore(theirs + "attn.masked_bias");
    }
    map.add_norm(prefix + "ln_f", "decoder.norm");
    map.ignore("*embed_positions");  // the angles
    ignore_other_heads(map);
    return map;
}

}  // namespace

ModelDirectory open_gpt_neox(const std::string& folder, const nlohmann::json& json) {
    Problems problems(folder);
    const ForeignConfig config(json, "config.json", problems);
    return open_decoder(folder, config, problems, neox_network(config, problems),
                        {.begin = 0, .prefix = "gpt_neox.", .tensors = neox_tensors});
}

ModelDirectory open_gptj(const std::string& folder, const nlohmann::json& json) {
    Problems problems(folder);
    const ForeignConfig config(json, "config.json", problems);
    return open_decoder(
        folder, config, problems, gptj_network(config),
        {.begin = 50256, .prefix = "transformer.", .tensors = gptj_tensors, .length_key = "n_positions"});
}

}  // namespace headscope
