// Hugging Face's T5 (1.0 and 1.1), mT5 and UMT5.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "import/formats.h"
#include "import/hugging_face.h"

namespace headscope {

namespace {

enum class T5Kind : std::uint8_t { T5, Mt5, Umt5 };

// "relu", or of the gated forms "gated-gelu".
void read_feed_forward(const ForeignConfig& config, const char* fallback, ModelConfig& net) {
    const std::string gated = "gated-";
    std::string name = config.text("feed_forward_proj", fallback);
    net.feed_forward.gate = name.starts_with(gated);
    if (net.feed_forward.gate) {
        name.erase(0, gated.size());
        name = name == "gelu" ? "gelu_new" : name;
    }
    net.feed_forward.activation = activation_named(config, "feed_forward_proj", name);
}

ModelConfig t5_network(const ForeignConfig& config, T5Kind kind) {
    const bool mt5 = kind != T5Kind::T5;
    ModelConfig net;
    net.encoder_layers = static_cast<int>(config.integer("num_layers", mt5 ? 8 : 6, 1, 1024));
    net.decoder_layers = static_cast<int>(config.integer("num_decoder_layers", net.encoder_layers, 1, 1024));
    net.d_model = config.integer("d_model", 512, 1);
    net.feed_forward.d_ff = config.integer("d_ff", mt5 ? 1024 : 2048, 1);
    net.attention.heads = config.integer("num_heads", mt5 ? 6 : 8, 1, 65535);
    net.attention.d_k = net.attention.d_v = config.integer("d_kv", 64, 1);
    read_feed_forward(config, mt5 ? "gated-gelu" : "relu", net);
    net.norm.placement = NormPlacement::Pre;
    net.norm.type = NormType::Rms;
    net.norm.epsilon = static_cast<float>(config.number("layer_norm_epsilon", 1e-6));
    net.positions.kind = Positions::None;
    net.positions.relative.kind = kind == T5Kind::Umt5 ? RelativePositions::LayerBuckets : RelativePositions::Buckets;
    net.positions.relative.buckets = config.integer("relative_attention_num_buckets", 32, 4);
    net.positions.relative.distance = config.integer("relative_attention_max_distance", 128, 2);
    net.max_length = 2048;  // nothing limits it
    net.feed_forward.bias = false;
    net.attention.score = AttentionScore::DotProduct;
    net.embedding.scale = false;
    // Newer programs write both keys, and never scale mT5's.
    net.output.scale =
        kind != T5Kind::Mt5 && config.boolean("scale_decoder_outputs", config.boolean("tie_word_embeddings", true));
    net.source_vocabulary = net.target_vocabulary = config.integer("vocab_size", mt5 ? 250112 : 32128, 1);
    return net;
}

void add_t5_stack(TensorMap& map, const ModelConfig& net, const std::string& prefix, const std::string& stack,
                  int layers) {
    const auto attention = [&](const std::string& theirs, const std::string& name, const std::string& ours) {
        for (const auto& [their_part, part] : {std::pair{"q", "q"}, {"k", "k"}, {"v", "v"}, {"o", "output"}}) {
            map.add({.theirs = fmt::format("{}{}.{}.weight", theirs, name, their_part),
                     .ours = {fmt::format("{}.{}.weight", ours, part)}});
        }
        map.add({.theirs = theirs + "layer_norm.weight", .ours = {ours + ".norm.gain"}});
    };
    for (int i = 0; i < layers; ++i) {
        const std::string block = fmt::format("{}{}.block.{}.layer.", prefix, stack, i);
        const std::string ours = fmt::format("{}.layers.{}.", stack, i);
        const bool decodes = stack == "decoder";
        attention(block + "0.", "SelfAttention", ours + "self_attention");
        if (decodes) {
            attention(block + "1.", "EncDecAttention", ours + "cross_attention");
        }
        const std::string last = block + (decodes ? "2." : "1.");
        const std::string inner = ours + "feed_forward.inner.weight";
        map.add({.theirs = last + "DenseReluDense.wi.weight", .ours = {inner}});
        map.add({.theirs = last + "DenseReluDense.wi_0.weight", .ours = {ours + "feed_forward.gate.weight"}});
        map.add({.theirs = last + "DenseReluDense.wi_1.weight", .ours = {inner}});
        map.add({.theirs = last + "DenseReluDense.wo.weight", .ours = {ours + "feed_forward.outer.weight"}});
        map.add({.theirs = last + "layer_norm.weight", .ours = {ours + "feed_forward.norm.gain"}});
        if (i == 0 || net.positions.relative.kind == RelativePositions::LayerBuckets) {
            map.add(
                {.theirs = block + "0.SelfAttention.relative_attention_bias.weight",
                 .ours = {(i == 0 && net.positions.relative.kind == RelativePositions::Buckets ? stack + "." : ours) +
                          "relative_positions.weight"}});
        }
    }
    map.add({.theirs = prefix + stack + ".final_layer_norm.weight", .ours = {stack + ".norm.gain"}});
}

ModelDirectory open_t5(const std::string& folder, const nlohmann::json& stated, T5Kind kind) {
    Problems problems(folder);
    const ForeignConfig config(stated, "config.json", problems);
    ModelDirectory model{.path = folder, .config = t5_network(config, kind)};
    ModelConfig& net = model.config;
    net.frame.pad_id = static_cast<std::int32_t>(config.integer("pad_token_id", 0));
    net.frame.eos_id = end_id(config, 1);
    net.frame.bos_id = net.frame.pad_id;
    net.frame.source_end = {net.frame.eos_id};
    read_generation(folder, stated, problems, model, {.begins_with_bos = kind == T5Kind::T5});
    open_tokenizers(folder, problems, model, kind == T5Kind::T5 ? SentencePieceIds::T5 : SentencePieceIds::Mt5);
    check_keys(config, problems, model);
    problems.finish();
    auto archive = open_folder_weights(folder);
    const std::string prefix = prefix_in(*archive, "transformer.");  // of classifiers
    require_both_stacks(*archive, model, stated, prefix);
    remark_other_head(*archive, model);
    // "tie_word_embeddings" is not reliable: newer programs always write true.
    const std::string shared = prefix + "shared.weight";
    const bool untied = archive->contains("lm_head.weight") && archive->contains(shared) &&
                        !same_values(*archive, "lm_head.weight", shared);
    net.embedding.tying = untied ? Tying::Embeddings : Tying::All;
    TensorMap map;
    map.add_embeddings(net.embedding.tying, prefix + "encoder.embed_tokens.weight",
                       prefix + "decoder.embed_tokens.weight", "lm_head.weight", shared);
    add_t5_stack(map, net, prefix, "encoder", net.encoder_layers);
    add_t5_stack(map, net, prefix, "decoder", net.decoder_layers);
    ignore_other_heads(map);
    // Old files have it, but nothing reads it.
    map.ignore("decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight");
    model.weights = mapped_weights(std::move(archive), std::move(map));
    check_hugging_face(model);
    return model;
}

}  // namespace

ModelDirectory open_t5(const std::string& folder, const nlohmann::json& config) {
    return open_t5(folder, config, T5Kind::T5);
}

ModelDirectory open_mt5(const std::string& folder, const nlohmann::json& config) {
    return open_t5(folder, config, T5Kind::Mt5);
}

ModelDirectory open_umt5(const std::string& folder, const nlohmann::json& config) {
    return open_t5(folder, config, T5Kind::Umt5);
}

}  // namespace headscope
