// Hugging Face's MarianMT, as OPUS-MT is published.
#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "import/formats.h"
#include "import/hugging_face.h"
#include "text/vocabulary_file.h"

namespace headscope {

namespace {

ModelConfig marian_network(const ForeignConfig& config) {
    ModelConfig net;
    read_bart_sizes(config, net);
    net.feed_forward.activation = activation_of(config, "activation_function", "gelu");
    net.norm.epsilon = 1e-5F;
    net.positions.layout = SinusoidLayout::Halves;
    net.attention.bias = true;
    net.output.bias = true;
    net.embedding.tying =
        tying_of(config.boolean("share_encoder_decoder_embeddings", true), config.boolean("tie_word_embeddings", true));
    net.embedding.scale = config.boolean("scale_embedding", false);
    net.source_vocabulary = config.integer("vocab_size", 58101, 1);
    net.target_vocabulary = config.integer("decoder_vocab_size", net.source_vocabulary, 1);
    config.require("static_position_embeddings", true);
    config.require("normalize_before", false);
    config.require("normalize_embedding", false);
    config.require("add_final_layer_norm", false);
    config.require("add_bias_logits", false);
    return net;
}

// Pieces come from the .spm file, ids from the vocabulary: the ids of the .spm file mean nothing. Rows behind the
// vocabulary, to which some programs pad it, have no piece.
std::shared_ptr<const Tokenizer> open_pair_tokenizer(const std::string& folder, const char* pieces,
                                                     const char* vocabulary, const ForeignConfig& config,
                                                     const char* size_key, std::int64_t size) {
    const std::string file = require_file(folder, vocabulary, "the ids of the pieces");
    const std::string segmenter =
        require_file(folder, pieces,
                     "the SentencePiece model (models of 2019 and before, which have BPE codes instead, are not "
                     "supported)");
    auto ids = read_vocabulary(file);
    if (ids->size() < size) {
        ids =
            numbered_vocabulary(ids->pieces(), ids->special(), ids->name(), {.size = static_cast<std::int32_t>(size)});
    }
    if (ids->size() != size) {
        config.problem(size_key, fmt::format("is {}, but {} has {} pieces", size, vocabulary, ids->size()));
    }
    return std::make_shared<const Tokenizer>(Tokenizer::load(segmenter, std::move(ids)));
}

}  // namespace

TensorMap marian_mt_tensors(const ModelConfig& net) {
    TensorMap map;
    map.add_embeddings(net.embedding.tying, "model.encoder.embed_tokens.weight", "model.decoder.embed_tokens.weight",
                       "lm_head.weight", "model.shared.weight");
    if (!shares_tables(net.embedding.tying)) {
        map.ignore("model.shared.weight");
    }
    map.add({.theirs = "final_logits_bias", .ours = {"output.bias"}, .zero_if_missing = true});
    add_bart_stacks(map, net, "model.");
    map.ignore("*.embed_positions.weight");
    return map;
}

ModelDirectory open_marian_mt(const std::string& folder, const nlohmann::json& json) {
    Problems problems(folder);
    const ForeignConfig config(json, "config.json", problems);
    ModelDirectory model{.path = folder, .config = marian_network(config)};
    ModelConfig& net = model.config;
    const bool separate =
        !file_in(folder, "target_vocab.json").empty() || tokenizer_settings(folder).value("separate_vocabs", false);
    const std::string target_ids = separate ? "target_vocab.json" : "vocab.json";
    model.source_tokenizer =
        open_pair_tokenizer(folder, "source.spm", "vocab.json", config, "vocab_size", net.source_vocabulary);
    model.target_tokenizer = open_pair_tokenizer(folder, "target.spm", target_ids.c_str(), config, "decoder_vocab_size",
                                                 net.target_vocabulary);
    const Tokenizer& target = *model.target_tokenizer;
    net.frame.pad_id = target.pad_id();
    net.frame.eos_id = target.eos_id();
    net.frame.unk_id = target.unk_id();
    net.frame.bos_id = static_cast<std::int32_t>(config.integer("decoder_start_token_id", 58100));
    net.frame.source_end = {model.source_tokenizer->eos_id()};
    if (const auto ends = ids_of(config.at("eos_token_id"));
        config.has("eos_token_id") && std::find(ends.begin(), ends.end(), net.frame.eos_id) == ends.end()) {
        config.problem("eos_token_id", fmt::format("is {}, but {} has </s> at {}", config.at("eos_token_id").dump(),
                                                   target_ids, net.frame.eos_id));
    }
    if (net.frame.pad_id >= 0) {
        net.frame.suppressed_ids = {
            net.frame.pad_id};  // its row is zero, its logit 0: a competitor in the softmax otherwise
    }
    read_generation(folder, json, problems, model, {.forced_end = 0});
    add_opus_languages(model);
    check_keys(config, problems, model);
    problems.finish();
    auto archive = open_folder_weights(folder);
    require_both_stacks(*archive, model, json, "model.");
    if (net.embedding.tying == Tying::Embeddings) {
        net.embedding.tying =
            untied_tables(*archive, "model.encoder.embed_tokens.weight", "model.decoder.embed_tokens.weight");
    }
    model.weights = mapped_weights(std::move(archive), marian_mt_tensors(net));
    check_hugging_face(model);
    return model;
}

}  // namespace headscope
