// Hugging Face's BART, mBART, M2M100, of which NLLB is one, Pegasus, Blenderbot and BlenderbotSmall.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "import/formats.h"
#include "import/hugging_face.h"

namespace headscope {

namespace {

// What differs between the families, and their defaults.
struct BartKind {
    NormPlacement norm = NormPlacement::Pre;
    bool learned_positions = true;
    std::int64_t first_position = 2;  // of mBART and others behind the pad, which is 1
    SinusoidLayout layout = SinusoidLayout::HalvesMinusOne;
    EmbeddingNorm embedding_norm = EmbeddingNorm::Last;
    bool output_bias = true;
    const char* activation = "gelu";
    bool scale_embedding = false;
    BartSizes sizes = {};
    std::int32_t pad = 1, start = 2, end = 2;
    GenerationDefaults generation = {.forced_end = end};
    SentencePieceIds ids = SentencePieceIds::Fairseq;
    // What stands around texts; of models with languages only if their vocabulary has some. Null: the end.
    void (*frame)(const ForeignConfig& config, const nlohmann::json& tokenizer, ModelConfig& net) = nullptr;
    bool has_languages = false;
};

void frame_bart(const ForeignConfig& config, const nlohmann::json&, ModelConfig& net) {
    net.frame.source_begin = {static_cast<std::int32_t>(config.integer("bos_token_id", 0))};
}

void frame_mbart(const ForeignConfig&, const nlohmann::json& tokenizer, ModelConfig& net) {
    if (tokenizer.value("tokenizer_class", "").starts_with("MBart50")) {
        net.frame.source_begin = {kSourceLanguage};
        net.frame.target_begin = net.frame.target_begin.empty() ? std::vector{kTargetLanguage} : net.frame.target_begin;
    } else {  // the decoder starts from the target language
        net.frame.source_end = {net.frame.eos_id, kSourceLanguage};
    }
}

void frame_m2m100(const ForeignConfig&, const nlohmann::json& tokenizer, ModelConfig& net) {
    if (tokenizer.value("legacy_behaviour", false)) {  // NLLB before 2023
        net.frame.source_end = {net.frame.eos_id, kSourceLanguage};
    } else {
        net.frame.source_begin = {kSourceLanguage};
    }
    net.frame.target_begin = net.frame.target_begin.empty() ? std::vector{kTargetLanguage} : net.frame.target_begin;
}

ModelConfig bart_network(const ForeignConfig& config, const BartKind& kind) {
    ModelConfig net;
    read_bart_sizes(config, net, kind.sizes);
    net.feed_forward.activation = activation_of(config, "activation_function", kind.activation);
    net.norm.placement = kind.norm;
    net.norm.epsilon = 1e-5F;
    net.attention.bias = true;
    net.output.bias = kind.output_bias;
    net.embedding.norm = kind.embedding_norm;
    net.embedding.scale = config.boolean("scale_embedding", kind.scale_embedding);
    net.embedding.tying = config.boolean("tie_word_embeddings", true) ? Tying::All : Tying::Embeddings;
    if (kind.learned_positions) {
        net.positions.kind = Positions::Learned;
    } else {
        net.positions.layout = kind.layout;
        net.positions.first = kind.first_position;
    }
    net.source_vocabulary = net.target_vocabulary = config.integer("vocab_size", 50265, 1);
    const bool pre = kind.norm == NormPlacement::Pre;
    config.require("normalize_before", pre);  // keys of old folders
    config.require("add_final_layer_norm", pre);
    config.require("normalize_embedding", kind.embedding_norm != EmbeddingNorm::None);
    config.require("static_position_embeddings", !kind.learned_positions);
    return net;
}

// `own_tables`: without ties, the shared table counts only where the stacks have none of their own.
TensorMap bart_tensors(const ModelConfig& net, const std::string& prefix, std::int64_t first_position,
                       bool own_tables) {
    TensorMap map;
    const std::string shared = prefix + "shared.weight";
    const bool ignores_shared = net.embedding.tying != Tying::All && own_tables;
    map.add_embeddings(net.embedding.tying, prefix + "encoder.embed_tokens.weight",
                       prefix + "decoder.embed_tokens.weight", "lm_head.weight", ignores_shared ? "" : shared);
    if (ignores_shared) {
        map.ignore(shared);
    }
    map.add({.theirs = "final_logits_bias", .ours = {"output.bias"}, .zero_if_missing = true});
    add_bart_stacks(map, net, prefix);
    for (const char* stack : {"encoder", "decoder"}) {
        map.add({.theirs = fmt::format("{}{}.embed_positions.weight", prefix, stack),
                 .ours = {fmt::format("{}.positions.weight", stack)},
                 .skipped_rows = first_position});
    }
    if (net.positions.kind == Positions::Sinusoid) {
        map.ignore("*.embed_positions.weight");
    }
    map.ignore("*.embed_positions.weights");  // sinusoids
    ignore_other_heads(map);
    map.ignore("*.version");
    return map;
}

ModelDirectory open_bart(const std::string& folder, const nlohmann::json& stated, const BartKind& kind) {
    Problems problems(folder);
    const ForeignConfig config(stated, "config.json", problems);
    ModelDirectory model{.path = folder, .config = bart_network(config, kind)};
    ModelConfig& net = model.config;
    net.frame.pad_id = static_cast<std::int32_t>(config.integer("pad_token_id", kind.pad));
    net.frame.eos_id = end_id(config, kind.end);
    net.frame.bos_id = kind.start;
    net.frame.source_end = {net.frame.eos_id};
    read_generation(folder, stated, problems, model, kind.generation);
    open_tokenizers(folder, problems, model, kind.ids);
    if (kind.has_languages) {
        add_languages(model);
    }
    if (kind.frame != nullptr && (!kind.has_languages || !net.frame.languages.empty())) {
        kind.frame(config, tokenizer_settings(folder), net);
    }
    choose_languages(folder, model);
    check_keys(config, problems, model);
    problems.finish();
    auto archive = open_folder_weights(folder);
    const std::string prefix = prefix_in(*archive, "model.");
    require_both_stacks(*archive, model, stated, prefix);
    remark_other_head(*archive, model);
    if (net.embedding.tying != Tying::All) {
        net.embedding.tying =
            untied_tables(*archive, prefix + "encoder.embed_tokens.weight", prefix + "decoder.embed_tokens.weight");
    }
    TensorMap map =
        bart_tensors(net, prefix, kind.first_position, archive->contains(prefix + "encoder.embed_tokens.weight"));
    model.weights = mapped_weights(std::move(archive), std::move(map));
    check_hugging_face(model);
    return model;
}

}  // namespace

ModelDirectory open_bart(const std::string& folder, const nlohmann::json& config) {
    return open_bart(folder, config, {.norm = NormPlacement::Post, .frame = frame_bart});
}

ModelDirectory open_mbart(const std::string& folder, const nlohmann::json& config) {
    return open_bart(folder, config,
                     {.start = 0,
                      .generation = {.begins_with_bos = true, .forced_end = 2},
                      .frame = frame_mbart,
                      .has_languages = true});
}

ModelDirectory open_m2m100(const std::string& folder, const nlohmann::json& config) {
    return open_bart(folder, config,
                     {.learned_positions = false,
                      .embedding_norm = EmbeddingNorm::None,
                      .output_bias = false,
                      .activation = "relu",
                      .scale_embedding = true,
                      .generation = {},
                      .frame = frame_m2m100,
                      .has_languages = true});
}

ModelDirectory open_pegasus(const std::string& folder, const nlohmann::json& config) {
    return open_bart(folder, config,
                     {.learned_positions = false,
                      .first_position = 0,
                      .layout = SinusoidLayout::Halves,
                      .embedding_norm = EmbeddingNorm::None,
                      .pad = 0,
                      .start = 0,
                      .end = 1,
                      .ids = SentencePieceIds::Pegasus});
}

ModelDirectory open_blenderbot(const std::string& folder, const nlohmann::json& config) {
    return open_bart(folder, config,
                     {.first_position = 0,
                      .embedding_norm = EmbeddingNorm::None,
                      .sizes = {.d_model = 2560, .d_ff = 10240, .max_length = 128},
                      .pad = 0,
                      .start = 1});
}

ModelDirectory open_blenderbot_small(const std::string& folder, const nlohmann::json& config) {
    return open_bart(folder, config,
                     {.norm = NormPlacement::Post,
                      .first_position = 0,
                      .embedding_norm = EmbeddingNorm::First,
                      .sizes = {.layers = 8, .d_model = 512, .d_ff = 2048, .max_length = 512},
                      .pad = 0,
                      .start = 1});
}

}  // namespace headscope
