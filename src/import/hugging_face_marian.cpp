// Hugging Face's MarianMT, as OPUS-MT is published.
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "import/formats.h"
#include "import/hugging_face.h"
#include "text/vocabulary_file.h"

namespace headscope {

namespace {

// The tables of embeddings, and the output.
void add_embeddings(TensorMap& map, Tying tying) {
    const std::string source = "model.encoder.embed_tokens.weight";
    const std::string target = "model.decoder.embed_tokens.weight";
    const std::string output = "lm_head.weight";
    if (tying == Tying::All) {
        map.add({.theirs = "model.shared.weight", .ours = {"embedding.weight"}, .copies = {source, target, output}});
    } else if (tying == Tying::Embeddings) {
        map.add({.theirs = "model.shared.weight", .ours = {"embedding.weight"}, .copies = {source, target}});
    } else {
        map.add({.theirs = source, .ours = {"source_embedding.weight"}});
        map.add({.theirs = target,
                 .ours = {"target_embedding.weight"},
                 .copies = tying == Tying::TargetOutput ? std::vector{output} : std::vector<std::string>{}});
        map.ignore("model.shared.weight");
    }
    map.add({.theirs = output, .ours = {"output.weight"}});
    map.add({.theirs = "final_logits_bias", .ours = {"output.bias"}, .zero_if_missing = true});
}

Tying tying_of(bool shared, bool tied) {
    if (shared) {
        return tied ? Tying::All : Tying::Embeddings;
    }
    return tied ? Tying::TargetOutput : Tying::None;
}

ModelConfig network(const ForeignConfig& config) {
    ModelConfig net;
    net.encoder_layers = static_cast<int>(config.integer("encoder_layers", 12, 1, 1024));
    net.decoder_layers = static_cast<int>(config.integer("decoder_layers", 12, 1, 1024));
    net.d_model = config.integer("d_model", 1024, 1);
    net.d_ff = config.same("encoder_ffn_dim", "decoder_ffn_dim", 4096);
    net.heads = config.same("encoder_attention_heads", "decoder_attention_heads", 16);
    if (net.d_model % net.heads != 0) {
        config.problem("d_model",
                       fmt::format("is {}, which is not a multiple of the {} heads", net.d_model, net.heads));
    }
    net.d_k = net.d_v = net.d_model / net.heads;
    net.activation = activation_of(config, "activation_function", "gelu");
    net.layer_norm_epsilon = 1e-5F;
    net.sinusoid_layout = SinusoidLayout::Halves;
    net.max_length = config.integer("max_position_embeddings", 1024, 1, 65535);
    net.attention_bias = true;
    net.output_bias = true;
    net.tying =
        tying_of(config.boolean("share_encoder_decoder_embeddings", true), config.boolean("tie_word_embeddings", true));
    net.scale_embedding = config.boolean("scale_embedding", false);
    net.source_vocabulary = config.integer("vocab_size", 58101, 1);
    net.target_vocabulary = config.integer("decoder_vocab_size", net.source_vocabulary, 1);
    config.require("static_position_embeddings", true);
    config.require("normalize_before", false);
    config.require("normalize_embedding", false);
    config.require("add_final_layer_norm", false);
    config.require("add_bias_logits", false);
    return net;
}

// Pieces come from the .spm file, ids from the vocabulary: the ids of the .spm file mean nothing.
std::shared_ptr<const Tokenizer> open_tokenizer(const std::string& folder, const char* pieces, const char* vocabulary,
                                                const ForeignConfig& config, const char* size_key, std::int64_t size) {
    const std::string file = require_file(folder, vocabulary, "the ids of the pieces");
    const std::string segmenter =
        require_file(folder, pieces,
                     "the SentencePiece model (models of 2019 and before, which have BPE codes instead, are not "
                     "supported)");
    auto ids = read_vocabulary(file);
    if (ids->size() != size) {
        config.problem(size_key, fmt::format("is {}, but {} has {} pieces", size, vocabulary, ids->size()));
    }
    return std::make_shared<const Tokenizer>(Tokenizer::load(segmenter, std::move(ids)));
}

}  // namespace

TensorMap marian_mt_tensors(const ModelConfig& net) {
    TensorMap map;
    add_embeddings(map, net.tying);
    add_bart_stacks(map, net, "model.");
    map.ignore("*.embed_positions.weight");
    return map;
}

ModelDirectory open_marian_mt(const std::string& folder, const nlohmann::json& json) {
    Problems problems(folder);
    const ForeignConfig config(json, "config.json", problems);
    ModelDirectory model{.path = folder, .config = network(config)};
    ModelConfig& net = model.config;
    const bool separate =
        !file_in(folder, "target_vocab.json").empty() || tokenizer_settings(folder).value("separate_vocabs", false);
    const std::string target_ids = separate ? "target_vocab.json" : "vocab.json";
    model.source_tokenizer =
        open_tokenizer(folder, "source.spm", "vocab.json", config, "vocab_size", net.source_vocabulary);
    model.target_tokenizer =
        open_tokenizer(folder, "target.spm", target_ids.c_str(), config, "decoder_vocab_size", net.target_vocabulary);
    const Tokenizer& target = *model.target_tokenizer;
    net.pad_id = target.pad_id();
    net.eos_id = target.eos_id();
    net.unk_id = target.unk_id();
    net.bos_id = static_cast<std::int32_t>(config.integer("decoder_start_token_id", 58100));
    net.source_end = {model.source_tokenizer->eos_id()};
    if (config.integer("eos_token_id", net.eos_id) != net.eos_id) {
        config.problem("eos_token_id", fmt::format("is {}, but {} has </s> at {}", config.at("eos_token_id").dump(),
                                                   target_ids, net.eos_id));
    }
    if (net.pad_id >= 0) {
        net.suppressed_ids = {net.pad_id};  // its row is zero, its logit 0: a competitor in the softmax otherwise
    }
    read_generation(folder, json, problems, model);
    add_opus_languages(model);
    problems.finish();
    model.weights = mapped_weights(open_folder_weights(folder), marian_mt_tensors(net));
    check_model_config(net, folder);
    return model;
}

}  // namespace headscope
