// What the families of Hugging Face have in common.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "import/common.h"
#include "import/problems.h"
#include "import/tensor_map.h"
#include "model/model_directory.h"

namespace headscope {

// The weights of the folder: safetensors, or PyTorch's pickle; in one file, or in shards with an index. If there are
// both, Error unless they agree.
std::shared_ptr<const TensorArchive> open_folder_weights(const std::string& folder);

// `prefix` if names in the file begin so, else "": a model without the head of a task has none.
std::string prefix_in(const TensorArchive& archive, const std::string& prefix);

// Of a model whose output has a matrix of its own: whether both sides have one table, as transformers 4 kept them, or
// two, as transformers 5 does.
Tying untied_tables(const TensorArchive& archive, const std::string& source, const std::string& target);
// The tensors of classifiers and other heads that are not read.
void ignore_other_heads(TensorMap& map);
// A remark if the model has such a head in place of the one that its family needs to write.
void remark_other_head(const TensorArchive& archive, ModelDirectory& model);
// Error if an encoder-decoder's file holds only one of its stacks.
void require_both_stacks(const TensorArchive& archive, const ModelDirectory& model, const nlohmann::json& config,
                         const std::string& prefix);

// An id or a list of ids; empty for anything else.
std::vector<std::int32_t> ids_of(const nlohmann::json& value);
// The id that ends texts: the first, if "eos_token_id" is a list.
std::int32_t end_id(const ForeignConfig& config, std::int32_t fallback);
// What a causal model's texts begin with, as tokenizer_config.json or tokenizer.json says; -1: nothing, as without a
// tokenizer. `usual` is the id of a config.json without one; -1: none. After open_tokenizers().
std::int32_t begin_id(const ForeignConfig& config, std::int32_t usual, Problems& problems, const ModelDirectory& model);
// What transformers takes where config.json, in a folder without generation_config.json, has no such key.
struct GenerationDefaults {
    bool begins_with_bos = false;  // rather than with the model's `bos_id`
    std::int32_t forced_end = -1;
};
// The author's decoding options, from generation_config.json or, in older folders, from config.json, which also say
// what an output begins with: the decoder's start and what follows it. Remarks name those that are not obeyed. The pad,
// the start, the end and the architecture must be known.
void read_generation(const std::string& folder, const nlohmann::json& config, Problems& problems, ModelDirectory& model,
                     const GenerationDefaults& defaults = {});

// Reports the keys of config.json and tokenizer_config.json that nothing obeys, and adds a problem for each value that
// is not supported. Before problems.finish(), when everything else has been read.
void check_keys(const ForeignConfig& config, Problems& problems, ModelDirectory& model);

// Error that names `file` and key for a value of tokenizer_config.json of another type than readers expect.
void check_tokenizer_settings(const nlohmann::json& settings, const std::string& file);

// The other way round: the keys of generation_config.json for the model's options, but for the beam, the length penalty
// and the longest output.
nlohmann::json generation_options(const ModelDirectory& model);

// What differs between decoders once their configuration is read.
struct DecoderRules {
    std::int32_t begin = -1;  // of a config.json without "bos_token_id"; -1: none
    const char* prefix = "";  // of the tensors' names, if the file has the head of a task
    std::function<TensorMap(const ModelConfig& net, const std::string& prefix)> tensors;
    const char* length_key = "max_position_embeddings";
};
// Opens the rest of the folder of a causal model with this configuration: the tokenizer, the options and the weights.
ModelDirectory open_decoder(const std::string& folder, const ForeignConfig& config, Problems& problems, ModelConfig net,
                            const DecoderRules& rules);

// check_imported() with the keys of config.json, of which `length_key` is that of max_length.
void check_hugging_face(const ModelDirectory& model, const char* length_key = "max_position_embeddings");

// How a family numbers the pieces of its SentencePiece model when no file says so.
enum class SentencePieceIds : std::uint8_t { Fairseq, Camembert, T5, Mt5, Pegasus };

// tokenizer_config.json without the keys whose value is null, an empty object if it is missing. Error that names file
// and key for a value of another type than readers expect.
nlohmann::json tokenizer_settings(const std::string& folder);

// The Jinja source of the folder's chat template: a file of its own, or a key of tokenizer_config.json, which may list
// several by name. Empty if there is none.
std::string chat_source(const std::string& folder);

// One tokenizer for both sides, by the files that there are, and the id of the unknown piece. Without any file, texts
// are ids, and a remark says so.
void open_tokenizers(const std::string& folder, Problems& problems, ModelDirectory& model,
                     SentencePieceIds ids = SentencePieceIds::Fairseq);
// The languages among the control pieces.
void add_languages(ModelDirectory& model);
// The author's choices of those that the texts need.
void choose_languages(const std::string& folder, ModelDirectory& model);

}  // namespace headscope
