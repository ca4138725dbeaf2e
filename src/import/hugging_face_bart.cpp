// Hugging Face's BART, mBART and M2M100, of which NLLB is one.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "import/formats.h"
#include "import/hugging_face.h"

namespace headscope {

namespace {

constexpr std::int64_t kFirstPosition = 2;  // behind the pad, which is 1

// What differs between the families, and their defaults.
struct Kind {
    NormPlacement norm;
    bool learned_positions;
    bool embedding_norm;
    bool output_bias;
    const char* activation;
    bool scale_embedding;
    // What stands around texts; in whose vocabulary there are languages.
    void (*frame)(const ForeignConfig& config, const nlohmann::json& tokenizer, ModelConfig& net);
};

void frame_bart(const ForeignConfig& config, const nlohmann::json&, ModelConfig& net) {
    net.source_begin = {static_cast<std::int32_t>(config.integer("bos_token_id", 0))};
}

void frame_mbart(const ForeignConfig&, const nlohmann::json& tokenizer, ModelConfig& net) {
    if (tokenizer.value("tokenizer_class", "").starts_with("MBart50")) {
        net.source_begin = {kSourceLanguage};
        net.target_begin = net.target_begin.empty() ? std::vector{kTargetLanguage} : net.target_begin;
    } else {  // the decoder starts from the target language
        net.source_end = {net.eos_id, kSourceLanguage};
    }
}

void frame_m2m100(const ForeignConfig&, const nlohmann::json& tokenizer, ModelConfig& net) {
    if (tokenizer.value("legacy_behaviour", false)) {  // NLLB before 2023
        net.source_end = {net.eos_id, kSourceLanguage};
    } else {
        net.source_begin = {kSourceLanguage};
    }
    net.target_begin = net.target_begin.empty() ? std::vector{kTargetLanguage} : net.target_begin;
}

ModelConfig network(const ForeignConfig& config, const Kind& kind) {
    ModelConfig net;
    read_bart_sizes(config, net);
    net.activation = activation_of(config, "activation_function", kind.activation);
    net.norm = kind.norm;
    net.layer_norm_epsilon = 1e-5F;
    net.attention_bias = true;
    net.output_bias = kind.output_bias;
    net.embedding_norm = kind.embedding_norm;
    net.scale_embedding = config.boolean("scale_embedding", kind.scale_embedding);
    net.tying = config.boolean("tie_word_embeddings", true) ? Tying::All : Tying::Embeddings;
    if (kind.learned_positions) {
        net.positions = Positions::Learned;
    } else {
        net.sinusoid_layout = SinusoidLayout::HalvesMinusOne;
        net.first_position = kFirstPosition;
    }
    net.source_vocabulary = net.target_vocabulary = config.integer("vocab_size", 50265, 1);
    const bool pre = kind.norm == NormPlacement::Pre;
    config.require("normalize_before", pre);  // keys of old folders
    config.require("add_final_layer_norm", pre);
    config.require("normalize_embedding", kind.embedding_norm);
    config.require("static_position_embeddings", !kind.learned_positions);
    return net;
}

// `own_tables`: without ties, the shared table counts only where the stacks have none of their own.
TensorMap tensors(const ModelConfig& net, const std::string& prefix, bool own_tables) {
    TensorMap map;
    const std::string shared = prefix + "shared.weight";
    const bool ignores_shared = net.tying != Tying::All && own_tables;
    map.add_embeddings(net.tying, prefix + "encoder.embed_tokens.weight", prefix + "decoder.embed_tokens.weight",
                       "lm_head.weight", ignores_shared ? "" : shared);
    if (ignores_shared) {
        map.ignore(shared);
    }
    map.add({.theirs = "final_logits_bias", .ours = {"output.bias"}, .zero_if_missing = true});
    add_bart_stacks(map, net, prefix);
    for (const char* stack : {"encoder", "decoder"}) {
        map.add({.theirs = fmt::format("{}{}.embed_positions.weight", prefix, stack),
                 .ours = {fmt::format("{}.positions.weight", stack)},
                 .skipped_rows = kFirstPosition});
    }
    map.ignore("*.embed_positions.weights");  // sinusoids
    map.ignore("*.version");
    return map;
}

ModelDirectory open(const std::string& folder, const nlohmann::json& json, const Kind& kind) {
    Problems problems(folder);
    const ForeignConfig config(json, "config.json", problems);
    ModelDirectory model{.path = folder, .config = network(config, kind)};
    ModelConfig& net = model.config;
    net.pad_id = static_cast<std::int32_t>(config.integer("pad_token_id", 1));
    net.eos_id = end_id(config, 2);
    net.bos_id = net.eos_id;
    net.source_end = {net.eos_id};
    read_generation(folder, json, problems, model);
    open_tokenizers(folder, problems, model);
    add_languages(model);
    if (json.value("model_type", "") == "bart" || !net.languages.empty()) {
        kind.frame(config, tokenizer_settings(folder), net);
    }
    choose_languages(folder, model);
    check_keys(config, problems, model);
    problems.finish();
    auto archive = open_folder_weights(folder);
    const std::string prefix = prefix_in(*archive, "model.");
    if (net.tying != Tying::All) {
        net.tying =
            untied_tables(*archive, prefix + "encoder.embed_tokens.weight", prefix + "decoder.embed_tokens.weight");
    }
    TensorMap map = tensors(net, prefix, archive->contains(prefix + "encoder.embed_tokens.weight"));
    model.weights = mapped_weights(std::move(archive), std::move(map));
    check_hugging_face(model);
    return model;
}

}  // namespace

ModelDirectory open_bart(const std::string& folder, const nlohmann::json& config) {
    return open(folder, config, {NormPlacement::Post, true, true, true, "gelu", false, frame_bart});
}

ModelDirectory open_mbart(const std::string& folder, const nlohmann::json& config) {
    return open(folder, config, {NormPlacement::Pre, true, true, true, "gelu", false, frame_mbart});
}

ModelDirectory open_m2m100(const std::string& folder, const nlohmann::json& config) {
    return open(folder, config, {NormPlacement::Pre, false, false, false, "relu", true, frame_m2m100});
}

}  // namespace headscope
