// Writes Hugging Face's folders; of MarianMT all of them.
#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "import/common.h"
#include "import/exported_hugging_face.h"
#include "import/exporting.h"
#include "import/format_limits.h"
#include "import/formats.h"
#include "import/hugging_face.h"
#include "io/atomic_file.h"
#include "io/made_folder.h"
#include "io/safetensors.h"

namespace headscope {

namespace {

using nlohmann::json;

// An id that both tables have: transformers looks for it in either. Only generation_config.json says what fills up
// outputs.
std::int32_t pad_of_both(const ModelDirectory& model) {
    const ModelConfig& net = model.config;
    const std::int64_t rows = std::min(net.source_vocabulary, net.target_vocabulary);
    for (const std::int32_t id : {net.frame.pad_id, model.source_tokenizer->pad_id()}) {
        if (id >= 0 && id < rows) {
            return id;
        }
    }
    return net.frame.eos_id < rows ? net.frame.eos_id : 0;
}

void check_marian(const ModelDirectory& model, Problems& problems) {
    const ModelConfig& net = model.config;
    FormatLimits limits(net, problems);
    limits.hold({"feed_forward.decoder_d_ff", "attention.decoder_heads", "attention.bias", "feed_forward.bias",
                 "output.bias", "embedding.tying", "embedding.scale", "frame.suppressed_ids"});
    limits.require("feed_forward.activation", hugging_face_activations());
    limits.require("positions.layout", {"halves"});
    limits.require("norm.epsilon", {json(1e-5)});
    require_source_frame(model, limits, false);
    limits.finish();
    require_sentencepiece(model, problems);
    if (net.frame.bos_id < 0) {
        problems.add("config.json", "\"frame.bos_id\" is -1: the format's decoders start from a piece");
    }
    for (const auto& tokenizer : {model.source_tokenizer, model.target_tokenizer}) {
        for (const char* piece : {"</s>", "<unk>", "<pad>"}) {
            if (!tokenizer->vocabulary().find(piece)) {
                problems.add(tokenizer->name(), fmt::format("has no piece {}, which MarianTokenizer needs", piece));
            }
        }
    }
}

json marian_config(const ModelDirectory& model) {
    const ModelConfig& net = model.config;
    return {
        {"model_type", "marian"},
        {"architectures", {"MarianMTModel"}},
        {"d_model", net.d_model},
        {"encoder_layers", net.encoder_layers},
        {"decoder_layers", net.decoder_layers},
        {"encoder_attention_heads", net.attention.heads},
        {"decoder_attention_heads",
         net.attention.decoder_heads > 0 ? net.attention.decoder_heads : net.attention.heads},
        {"encoder_ffn_dim", net.feed_forward.d_ff},
        {"decoder_ffn_dim", net.feed_forward.decoder_d_ff > 0 ? net.feed_forward.decoder_d_ff : net.feed_forward.d_ff},
        {"activation_function", hugging_face_activation(net.feed_forward.activation)},
        {"max_position_embeddings", net.max_length},
        {"vocab_size", net.source_vocabulary},
        {"decoder_vocab_size", net.target_vocabulary},
        {"scale_embedding", net.embedding.scale},
        {"share_encoder_decoder_embeddings", shares_tables(net.embedding.tying)},
        {"tie_word_embeddings", ties_output(net.embedding.tying)},
        {"static_position_embeddings", true},
        {"is_encoder_decoder", true},
        {"pad_token_id", pad_of_both(model)},
        {"bos_token_id", net.frame.eos_id},
        {"eos_token_id", net.frame.eos_id},
        {"forced_eos_token_id", nullptr},  // otherwise 0; generation_config.json says it
        {"decoder_start_token_id", net.frame.bos_id}};
}

ExportedModel exported_marian(const ModelDirectory& model, const Parameters& parameters) {
    const TensorMap map = marian_mt_tensors(model.config);
    ExportedModel exported{marian_config(model), exported_tensors(map, parameters)};
    add_zero_biases(map, exported.tensors);
    if (model.config.embedding.tying ==
        Tying::Embeddings) {  // transformers reads each side's own table where the output has one
        const std::string shared = "model.shared.weight";
        for (const char* side : {"encoder", "decoder"}) {
            exported.tensors.push_back(*std::find_if(exported.tensors.begin(), exported.tensors.end(),
                                                     [&](const auto& tensor) { return tensor.name == shared; }));
            exported.tensors.back().name = fmt::format("model.{}.embed_tokens.weight", side);
        }
    }
    return exported;
}

json special_ids(const Tokenizer& tokenizer) {
    json ids = json::object();
    std::int32_t id = 0;
    for (const Piece& piece : tokenizer.vocabulary().pieces()) {
        ids[piece.text] = id++;
    }
    return ids;
}

std::string indented(const json& value) {
    return value.dump(2) + "\n";
}

// The author's options in the program's words; the pad is out of the softmax.
json generation_of(const ModelDirectory& model) {
    const ModelConfig& net = model.config;
    const json choices = model.decoding != nullptr ? *model.decoding : json::object();
    json generation = {{"num_beams", choices.value("beam", 4)},
                       {"length_penalty", power_of(choices)},
                       {"max_length", choices.value("max_length", 511) + 1},
                       {"decoder_start_token_id", net.frame.bos_id},
                       {"eos_token_id", net.frame.eos_id},
                       {"pad_token_id", net.frame.pad_id < 0 ? net.frame.eos_id : net.frame.pad_id}};
    if (!net.frame.suppressed_ids.empty()) {
        json words = json::array();
        for (const std::int32_t id : net.frame.suppressed_ids) {
            words.push_back({id});
        }
        generation["bad_words_ids"] = std::move(words);
        generation["renormalize_logits"] = true;
    }
    const json own = generation_options(model);
    generation["early_stopping"] = own.value("early_stopping", json("never"));  // as our search
    if (choices.value("force_end", false)) {
        generation["forced_eos_token_id"] =
            own.contains("eos_token_id") ? own["eos_token_id"][0] : json(net.frame.eos_id);
    }
    for (const auto& [key, value] : own.items()) {
        json& option = generation[key];
        if (key == "bad_words_ids" && option.is_array()) {
            option.insert(option.end(), value.begin(), value.end());
        } else {
            option = value;
        }
    }
    return generation;
}

// Of a language model that writes.
FileTexts language_options(const ModelDirectory& model) {
    if (model.config.architecture != Architecture::CausalLm) {
        return {};
    }
    const json choices = model.decoding != nullptr ? *model.decoding : json::object();
    json generation = {{"num_beams", choices.value("beam", 1)},
                       {"length_penalty", power_of(choices)},
                       {"eos_token_id", model.config.frame.eos_id},
                       {"max_new_tokens", choices.value("max_extra", 64)}};
    if (const auto most = choices.find("max_length"); most != choices.end() && *most != 0) {
        generation.erase("max_new_tokens");
        generation["max_length"] = *most;
    }
    generation.update(generation_options(model));
    return {{"generation_config.json", indented(generation)}};
}

FileTexts marian_files(const ModelDirectory& model) {
    const json source = special_ids(*model.source_tokenizer);
    const json target = special_ids(*model.target_tokenizer);
    const json settings = {{"tokenizer_class", "MarianTokenizer"}, {"separate_vocabs", source != target}};
    FileTexts files{{"vocab.json", indented(source)},
                    {"tokenizer_config.json", indented(settings)},
                    {"generation_config.json", indented(generation_of(model))},
                    {"source.spm", model.source_tokenizer->files().segmenter},
                    {"target.spm", model.target_tokenizer->files().segmenter}};
    if (source != target) {
        files.emplace_back("target_vocab.json", indented(target));
    }
    return files;
}

void write_weights(const std::vector<ExportedTensor>& tensors, const std::string& path) {
    std::vector<TensorToWrite> written;
    for (const ExportedTensor& tensor : tensors) {
        const bool is_row = tensor.name == "final_logits_bias";
        const Shape shape = is_row                     ? Shape{1, tensor.shape[0]}
                            : tensor.shape.size() == 1 ? Shape{tensor.shape[0]}
                                                       : Shape{tensor.shape[0], tensor.shape[1]};
        written.push_back({tensor.name, DType::F32, shape, tensor.values.data()});
    }
    write_safetensors(path, written, {{"format", "pt"}});
}

}  // namespace

void export_hugging_face(const ModelDirectory& model, const Parameters& parameters, const std::string& path) {
    const ModelConfig& net = model.config;
    Problems problems(model.path);
    const bool translates = net.architecture == Architecture::EncoderDecoder;
    const bool causal = net.architecture == Architecture::CausalLm;
    if (translates) {
        check_marian(model, problems);
    } else {
        (causal ? check_gpt2 : check_bert)(net, problems);
    }
    FileTexts files = translates ? FileTexts() : language_tokenizer_files(model, problems);
    problems.finish();
    const ExportedModel exported =
        translates ? exported_marian(model, parameters) : (causal ? exported_gpt2 : exported_bert)(net, parameters);
    if (translates) {
        files = marian_files(model);
    }
    for (auto& file : language_options(model)) {
        files.push_back(std::move(file));
    }
    files.emplace_back("config.json", indented(exported.config));
    MadeFolder made(path);
    const auto place = [&](const std::string& name) { return (std::filesystem::path(path) / name).string(); };
    write_weights(exported.tensors, place("model.safetensors"));
    for (const auto& [name, text] : files) {
        atomic_write_file(place(name), text);
    }
    made.keep();
}

}  // namespace headscope
