// Hugging Face's BERT, RoBERTa, XLM-RoBERTa, CamemBERT and DistilBERT.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "import/declared_tokens.h"
#include "import/formats.h"
#include "import/hugging_face.h"
#include "import/hugging_face_scores.h"

namespace headscope {

namespace {

// The names of one family's tensors, in which {} is the number of a layer.
struct Names {
    const char* prefix;
    const char* layer;  // "encoder.layer.{}."
    const char *q, *k, *v, *output, *attention_norm, *inner, *outer, *norm;
    const char *transform, *transform_norm, *bias;  // of the head
    const char *decoder, *decoder_bias;             // where it repeats embedding and bias, or has its own
    ScoreTensors scores;
    std::size_t ends_between = 1;  // of two texts
};

ModelConfig common(const ForeignConfig& config) {
    ModelConfig net;
    net.architecture = Architecture::MaskedLm;
    net.decoder_layers = 0;
    net.attention.bias = true;
    net.output.bias = true;
    net.output.transform = OutputTransform::Activation;
    net.embedding.norm = EmbeddingNorm::Last;
    net.positions.kind = Positions::Learned;
    net.embedding.scale = false;
    net.norm.epsilon = static_cast<float>(config.number("layer_norm_eps", 1e-12));
    net.source_vocabulary = net.target_vocabulary = config.integer("vocab_size", 30522, 1);
    net.embedding.tying = config.boolean("tie_word_embeddings", true) ? Tying::All : Tying::None;
    return net;
}

ModelConfig bert_network(const ForeignConfig& config, std::int64_t first_position) {
    ModelConfig net = common(config);
    net.encoder_layers = static_cast<int>(config.integer("num_hidden_layers", 12, 1, 1024));
    net.d_model = config.integer("hidden_size", 768, 1);
    net.feed_forward.d_ff = config.integer("intermediate_size", 3072, 1);
    set_heads(config.integer("num_attention_heads", 12, 1, 65535), config, "num_attention_heads", net);
    net.feed_forward.activation = activation_of(config, "hidden_act", "gelu");
    net.max_length = config.integer("max_position_embeddings", 512, 1, 65535) - first_position;
    net.embedding.token_types = config.integer("type_vocab_size", 2, 0, 65535);
    config.require("position_embedding_type", "absolute");
    config.require("is_decoder", false);
    return net;
}

ModelConfig distil_network(const ForeignConfig& config) {
    ModelConfig net = common(config);
    net.encoder_layers = static_cast<int>(config.integer("n_layers", 6, 1, 1024));
    net.d_model = config.integer("dim", 768, 1);
    net.feed_forward.d_ff = config.integer("hidden_dim", 3072, 1);
    set_heads(config.integer("n_heads", 12, 1, 65535), config, "n_heads", net);
    net.feed_forward.activation = activation_of(config, "activation", "gelu");
    net.max_length = config.integer("max_position_embeddings", 512, 1, 65535);
    return net;
}

// The embedding, and the head's matrix and bias. If that is untied, the bias of its own layer counts.
void add_words(TensorMap& map, const ModelConfig& net, const Names& names, const std::string& embedding) {
    if (net.embedding.tying == Tying::None) {
        map.add({.theirs = embedding, .ours = {"embedding.weight"}});
        map.add({.theirs = names.decoder, .ours = {"output.weight"}});
        map.add({.theirs = names.decoder_bias, .ours = {"output.bias"}});
        map.add({.theirs = names.bias, .ours = {"output.bias"}});
        map.ignore(names.bias);
    } else {
        map.add({.theirs = embedding, .ours = {"embedding.weight"}, .copies = {names.decoder}});
        map.add({.theirs = names.bias, .ours = {"output.bias"}, .copies = {names.decoder_bias}});
    }
}

TensorMap bert_tensors(const ModelConfig& net, const Names& names, const std::string& prefix,
                       std::int64_t first_position) {
    TensorMap map;
    const std::string embeddings = prefix + "embeddings.";
    add_words(map, net, names, embeddings + "word_embeddings.weight");
    map.add({.theirs = embeddings + "position_embeddings.weight",
             .ours = {"encoder.positions.weight"},
             .skipped_rows = first_position});
    map.add({.theirs = embeddings + "token_type_embeddings.weight", .ours = {"encoder.token_types.weight"}});
    // Files of 2018 have other names for the parts of a norm.
    const auto norm = [&](const std::string& theirs, const std::string& ours) {
        map.add_norm(theirs, ours);
        map.add({.theirs = theirs + ".gamma", .ours = {ours + ".gain"}});
        map.add({.theirs = theirs + ".beta", .ours = {ours + ".bias"}});
    };
    norm(embeddings + "LayerNorm", "encoder.embedding_norm");
    for (int i = 0; i < net.encoder_layers; ++i) {
        const std::string theirs = prefix + fmt::format(fmt::runtime(names.layer), i);
        const std::string ours = fmt::format("encoder.layers.{}.", i);
        map.add_linear(theirs + names.q, ours + "self_attention.q");
        map.add_linear(theirs + names.k, ours + "self_attention.k");
        map.add_linear(theirs + names.v, ours + "self_attention.v");
        map.add_linear(theirs + names.output, ours + "self_attention.output");
        norm(theirs + names.attention_norm, ours + "self_attention.norm");
        map.add_linear(theirs + names.inner, ours + "feed_forward.inner");
        map.add_linear(theirs + names.outer, ours + "feed_forward.outer");
        norm(theirs + names.norm, ours + "feed_forward.norm");
    }
    map.add_linear(names.transform, "output.transform");
    norm(names.transform_norm, "output.norm");
    map.ignore("*.position_ids");
    for (const char* end : {"weight", "bias"}) {
        map.ignore(fmt::format("*pooler.dense.{}", end));
        map.ignore(fmt::format("cls.seq_relationship.{}", end));
    }
    add_score_tensors(map, names.scores);
    ignore_other_heads(map);
    return map;
}

struct SpecialIds {
    std::int32_t pad, begin, end, mask;
};

// Those that the folder declares, or else those with usual names.
SpecialIds special_of(const Tokenizer& tokenizer, const std::string& folder) {
    const Vocabulary& vocabulary = tokenizer.vocabulary();
    SpecialIds special{tokenizer.pad_id(), tokenizer.bos_id(), tokenizer.eos_id(), -1};
    for (const char* mask : {"[MASK]", "<mask>"}) {
        special.mask = vocabulary.find(mask).value_or(special.mask);
    }
    const nlohmann::json settings = tokenizer_settings(folder);
    for (const auto& [role, id] : {std::pair{"pad_token", &special.pad},
                                   {"cls_token", &special.begin},
                                   {"sep_token", &special.end},
                                   {"mask_token", &special.mask}}) {
        *id = vocabulary.find(declared_role(folder, settings, role)).value_or(*id);
    }
    return special;
}

constexpr SpecialIds kUsualOfBert{0, 101, 102, 103};

// `usual`: of a folder without a tokenizer.
ModelDirectory open_bert(const std::string& folder, const ForeignConfig& config, Problems& problems,
                         const ModelConfig& net, const Names& names, const SpecialIds& usual,
                         SentencePieceIds ids = SentencePieceIds::Fairseq, std::int64_t first_position = 0) {
    ModelDirectory model{.path = folder, .config = net};
    open_tokenizers(folder, problems, model, ids);
    const Tokenizer& tokenizer = *model.target_tokenizer;
    const SpecialIds declared = special_of(tokenizer, folder);
    const SpecialIds special = declared.end >= 0 ? declared : usual;
    model.config.frame.pad_id = special.pad;
    model.config.frame.bos_id = special.begin;
    model.config.frame.eos_id = special.end;
    model.config.frame.mask_id = special.mask;
    if (declared.end < 0) {
        model.remarks.push_back(fmt::format("{}: assumes the ids {}, {} and {} for the beginning, the end and the mask",
                                            folder, usual.begin, usual.end, usual.mask));
    }
    set_scores(config, names.scores, model.config.output);
    // Only a classifier reads two texts; the others can be exported as BERT, which has one end between.
    const bool reads_pairs = model.config.output.head != OutputHead::Vocabulary;
    model.config.frame.between.assign(reads_pairs ? names.ends_between : 1, special.end);
    check_keys(config, problems, model);
    problems.finish();
    auto archive = open_folder_weights(folder);
    if (!archive->contains(std::string(names.transform) + ".weight")) {
        model.config.output.transform = OutputTransform::None;
        model.config.output.bias = false;
        model.config.embedding.tying = Tying::All;
        if (model.config.output.head == OutputHead::Vocabulary) {
            model.remarks.push_back(
                folder +
                " has no head for masked words: its attention can be seen, but what it fills in means nothing");
        }
    }
    TensorMap map = bert_tensors(model.config, names, prefix_in(*archive, names.prefix), first_position);
    model.weights = mapped_weights(std::move(archive), std::move(map));
    check_hugging_face(model);
    return model;
}

Names bert_names() {
    return {.prefix = "bert.",
            .layer = "encoder.layer.{}.",
            .q = "attention.self.query",
            .k = "attention.self.key",
            .v = "attention.self.value",
            .output = "attention.output.dense",
            .attention_norm = "attention.output.LayerNorm",
            .inner = "intermediate.dense",
            .outer = "output.dense",
            .norm = "output.LayerNorm",
            .transform = "cls.predictions.transform.dense",
            .transform_norm = "cls.predictions.transform.LayerNorm",
            .bias = "cls.predictions.bias",
            .decoder = "cls.predictions.decoder.weight",
            .decoder_bias = "cls.predictions.decoder.bias",
            .scores = {"bert.pooler.dense", ScoreLayer::Tanh, "classifier"}};
}

}  // namespace

TensorMap bert_tensors(const ModelConfig& net) {
    return bert_tensors(net, bert_names(), "bert.", 0);
}

ModelDirectory open_bert(const std::string& folder, const nlohmann::json& json) {
    Problems problems(folder);
    const ForeignConfig config(json, "config.json", problems);
    return open_bert(folder, config, problems, bert_network(config, 0), bert_names(), kUsualOfBert);
}

namespace {

// Positions begin behind the pad, and the head's activation is fixed.
ModelDirectory open_like_roberta(const std::string& folder, const nlohmann::json& stated, SentencePieceIds ids,
                                 std::int32_t begin, std::int32_t end) {
    Problems problems(folder);
    const ForeignConfig config(stated, "config.json", problems);
    const auto id_of = [&](const char* key, std::int32_t fallback) {
        return static_cast<std::int32_t>(config.integer(key, fallback));
    };
    const std::int32_t pad = id_of("pad_token_id", 1);
    Names names = bert_names();
    names.prefix = "roberta.";
    names.transform = "lm_head.dense";
    names.transform_norm = "lm_head.layer_norm";
    names.bias = "lm_head.bias";
    names.decoder = "lm_head.decoder.weight";
    names.decoder_bias = "lm_head.decoder.bias";
    names.scores = {"classifier.dense", ScoreLayer::Tanh, "classifier.out_proj"};
    names.ends_between = 2;
    ModelConfig net = bert_network(config, pad + 1);
    net.output.transform =
        net.feed_forward.activation == Activation::Gelu ? OutputTransform::Activation : OutputTransform::Gelu;
    const SpecialIds usual{pad, id_of("bos_token_id", begin), end_id(config, end),
                           static_cast<std::int32_t>(net.target_vocabulary) - 1};
    return open_bert(folder, config, problems, net, names, usual, ids, pad + 1);
}

}  // namespace

ModelDirectory open_roberta(const std::string& folder, const nlohmann::json& json) {
    return open_like_roberta(folder, json, SentencePieceIds::Fairseq, 0, 2);
}

ModelDirectory open_camembert(const std::string& folder, const nlohmann::json& json) {
    return open_like_roberta(folder, json, SentencePieceIds::Camembert, 5, 6);
}

ModelDirectory open_distilbert(const std::string& folder, const nlohmann::json& json) {
    Problems problems(folder);
    const ForeignConfig config(json, "config.json", problems);
    const Names names{.prefix = "distilbert.",
                      .layer = "transformer.layer.{}.",
                      .q = "attention.q_lin",
                      .k = "attention.k_lin",
                      .v = "attention.v_lin",
                      .output = "attention.out_lin",
                      .attention_norm = "sa_layer_norm",
                      .inner = "ffn.lin1",
                      .outer = "ffn.lin2",
                      .norm = "output_layer_norm",
                      .transform = "vocab_transform",
                      .transform_norm = "vocab_layer_norm",
                      .bias = "vocab_projector.bias",
                      .decoder = "vocab_projector.weight",
                      .decoder_bias = "vocab_projector.bias",
                      .scores = {"pre_classifier", ScoreLayer::Relu, "classifier"}};
    return open_bert(folder, config, problems, distil_network(config), names, kUsualOfBert);
}

}  // namespace headscope
