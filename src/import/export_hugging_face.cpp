// Writes Hugging Face's folders: MarianMT, GPT-2 and BERT.
#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "import/common.h"
#include "import/exporting.h"
#include "import/formats.h"
#include "io/atomic_file.h"
#include "io/made_folder.h"
#include "io/safetensors.h"

namespace headscope {

namespace {

using nlohmann::json;

const char* name_of_activation(Activation activation) {
    switch (activation) {
        case Activation::Gelu: return "gelu";
        case Activation::GeluTanh: return "gelu_new";
        case Activation::GeluSigmoid: return "quick_gelu";
        case Activation::Swish: return "swish";
        default: return "relu";
    }
}

// What all families need: of the others' options none.
Limits common_limits(const ModelConfig& net, Problems& problems) {
    const Limits limits(net, problems);
    limits.require("norm_type", {"layer"});
    limits.require("relative_positions", {"none"});
    limits.require("attention_score", {"dot_product"});
    limits.require("attention_bias", {true});
    limits.require("feed_forward_bias", {true});
    limits.require("feed_forward_gate", {false});
    limits.require("scale_output", {false});
    limits.require_heads();
    return limits;
}

json marian_config(const ModelDirectory& model, Problems& problems) {
    const ModelConfig& net = model.config;
    const Limits limits = common_limits(net, problems);
    limits.require("norm", {"post"});
    limits.require("positions", {"sinusoid"});
    limits.require("sinusoid_layout", {"halves"});
    limits.require("first_position", {0});
    limits.require("output_bias", {true});
    limits.require("embedding_norm", {false});
    limits.require("scale_attention", {true});
    limits.require("layer_norm_epsilon", {json(1e-5)});
    limits.require("target_begin", {json::array()});
    limits.require("source_begin", {json::array(), json::array({"target_language"})});
    if (net.source_end != std::vector{model.source_tokenizer->eos_id()}) {
        problems.add("config.json", "\"source_end\" is not the end alone: the format's sources end with it");
    }
    require_sentencepiece(model, problems);
    if (net.bos_id < 0) {
        problems.add("config.json", "\"bos_id\" is -1: the format's decoders start from a piece");
    }
    const bool shared = shares_tables(net.tying);
    const bool tied = ties_output(net.tying);
    return {{"model_type", "marian"},
            {"architectures", {"MarianMTModel"}},
            {"d_model", net.d_model},
            {"encoder_layers", net.encoder_layers},
            {"decoder_layers", net.decoder_layers},
            {"encoder_attention_heads", net.heads},
            {"decoder_attention_heads", net.heads},
            {"encoder_ffn_dim", net.d_ff},
            {"decoder_ffn_dim", net.d_ff},
            {"activation_function", name_of_activation(net.activation)},
            {"max_position_embeddings", net.max_length},
            {"vocab_size", net.source_vocabulary},
            {"decoder_vocab_size", net.target_vocabulary},
            {"scale_embedding", net.scale_embedding},
            {"share_encoder_decoder_embeddings", shared},
            {"tie_word_embeddings", tied},
            {"static_position_embeddings", true},
            {"is_encoder_decoder", true},
            {"pad_token_id", net.pad_id},
            {"bos_token_id", net.eos_id},
            {"eos_token_id", net.eos_id},
            {"forced_eos_token_id", net.eos_id},
            {"decoder_start_token_id", net.bos_id}};
}

json gpt2_config(const ModelConfig& net, Problems& problems) {
    const Limits limits = common_limits(net, problems);
    limits.require("norm", {"pre"});
    limits.require("positions", {"learned"});
    limits.require("output_bias", {false});
    limits.require("embedding_norm", {false});
    limits.require("scale_embedding", {false});
    return {{"model_type", "gpt2"},
            {"architectures", {"GPT2LMHeadModel"}},
            {"n_embd", net.d_model},
            {"n_layer", net.decoder_layers},
            {"n_head", net.heads},
            {"n_inner", net.d_ff},
            {"n_positions", net.max_length},
            {"vocab_size", net.target_vocabulary},
            {"activation_function", name_of_activation(net.activation)},
            {"layer_norm_epsilon", net.layer_norm_epsilon},
            {"scale_attn_weights", net.scale_attention},
            {"tie_word_embeddings", net.tying == Tying::All},
            {"bos_token_id", net.bos_id < 0 ? net.eos_id : net.bos_id},
            {"eos_token_id", net.eos_id}};
}

json bert_config(const ModelDirectory& model, Problems& problems) {
    const ModelConfig& net = model.config;
    const Limits limits = common_limits(net, problems);
    limits.require("norm", {"post"});
    limits.require("positions", {"learned"});
    limits.require("output_bias", {true});
    limits.require("output_transform", {true});
    limits.require("embedding_norm", {true});
    limits.require("scale_attention", {true});
    limits.require("scale_embedding", {false});
    limits.require("tying", {"all"});
    if (model.target_tokenizer->type() == TokenizerType::ByteBpe) {
        problems.add(model.target_tokenizer->name(), "is RoBERTa's kind of tokenizer: only BERT is written");
    }
    return {{"model_type", "bert"},
            {"architectures", {"BertForMaskedLM"}},
            {"hidden_size", net.d_model},
            {"num_hidden_layers", net.encoder_layers},
            {"num_attention_heads", net.heads},
            {"intermediate_size", net.d_ff},
            {"hidden_act", name_of_activation(net.activation)},
            {"max_position_embeddings", net.max_length},
            {"type_vocab_size", net.token_types},
            {"vocab_size", net.target_vocabulary},
            {"layer_norm_eps", net.layer_norm_epsilon},
            {"pad_token_id", net.pad_id}};
}

json ids_of(const Tokenizer& tokenizer) {
    json ids = json::object();
    std::int32_t id = 0;
    for (const Piece& piece : tokenizer.vocabulary().pieces()) {
        ids[piece.text] = id++;
    }
    return ids;
}

class Folder {
public:
    explicit Folder(const std::string& path) : path_(path), made_(path) {}
    void write(const char* name, const std::string& text) const { atomic_write_file(place(name), text); }
    void write(const char* name, const json& value) const { write(name, value.dump(2) + "\n"); }
    std::string place(const char* name) const { return (std::filesystem::path(path_) / name).string(); }
    void keep() { made_.keep(); }

private:
    std::string path_;
    MadeFolder made_;
};

// The author's options in the program's words; the pad is out of the softmax.
json generation_of(const ModelDirectory& model) {
    const ModelConfig& net = model.config;
    const json choices = model.decoding != nullptr ? *model.decoding : json::object();
    json generation = {{"num_beams", choices.value("beam", 4)},
                       {"length_penalty", power_of(choices)},
                       {"max_length", choices.value("max_length", 511) + 1},
                       {"decoder_start_token_id", net.bos_id},
                       {"eos_token_id", net.eos_id},
                       {"pad_token_id", net.pad_id},
                       {"forced_eos_token_id", net.eos_id}};
    if (!net.suppressed_ids.empty()) {
        json words = json::array();
        for (const std::int32_t id : net.suppressed_ids) {
            words.push_back({id});
        }
        generation["bad_words_ids"] = std::move(words);
        generation["renormalize_logits"] = true;
    }
    return generation;
}

void write_marian_tokenizers(const ModelDirectory& model, const std::string& path, const Folder& folder) {
    const json source = ids_of(*model.source_tokenizer);
    const json target = ids_of(*model.target_tokenizer);
    folder.write("vocab.json", source);
    if (source != target) {
        folder.write("target_vocab.json", target);
    }
    folder.write("tokenizer_config.json",
                 json{{"tokenizer_class", "MarianTokenizer"}, {"separate_vocabs", source != target}});
    write_segmenters(model, path, "source.spm", "target.spm");
}

void write_language_tokenizer(const ModelDirectory& model, const Folder& folder) {
    const TokenizerType type = model.target_tokenizer->type();
    const std::string text = model.target_tokenizer->files().segmenter;
    if (text.starts_with('{')) {
        folder.write("tokenizer.json", text);
    } else if (type == TokenizerType::Bpe || type == TokenizerType::Unigram) {
        folder.write("spiece.model", text);
    } else if (type == TokenizerType::WordPiece) {
        folder.write("vocab.txt", text);
    }
}

}  // namespace

void export_hugging_face(const ModelDirectory& model, const Parameters& parameters, const std::string& path) {
    const ModelConfig& net = model.config;
    Problems problems(model.path);
    const bool translates = net.architecture == Architecture::EncoderDecoder;
    const bool causal = net.architecture == Architecture::CausalLm;
    const json config = translates ? marian_config(model, problems)
                        : causal   ? gpt2_config(net, problems)
                                   : bert_config(model, problems);
    problems.finish();
    const std::vector<ExportedTensor> tensors = exported_tensors(translates ? marian_mt_tensors(net)
                                                                 : causal   ? gpt2_tensors(net, "transformer.")
                                                                            : bert_tensors(net),
                                                                 parameters);
    std::vector<TensorToWrite> written;
    for (const ExportedTensor& tensor : tensors) {
        const bool is_row = tensor.name == "final_logits_bias";
        const Shape shape = is_row                     ? Shape{1, tensor.shape[0]}
                            : tensor.shape.size() == 1 ? Shape{tensor.shape[0]}
                                                       : Shape{tensor.shape[0], tensor.shape[1]};
        written.push_back({tensor.name, DType::F32, shape, tensor.values.data()});
    }
    Folder folder(path);
    if (translates) {
        write_marian_tokenizers(model, path, folder);
        folder.write("generation_config.json", generation_of(model));
    } else {
        write_language_tokenizer(model, folder);
    }
    write_safetensors(folder.place("model.safetensors"), written, {{"format", "pt"}});
    folder.write("config.json", config);
    folder.keep();
}

}  // namespace headscope
