// The formats that can be opened, and where the parts of a model come from in each.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "import/problems.h"
#include "import/tensor_map.h"
#include "model/model_directory.h"

namespace headscope {

// What the functions below have in common: `folder` is what the user named, and an Error lists all that is unsupported.

// Hugging Face: config.json with "model_type", the weights as safetensors or as PyTorch's pickle.
ModelDirectory open_hugging_face(const std::string& folder);

// The families of Hugging Face, by model_type.
ModelDirectory open_marian_mt(const std::string& folder, const nlohmann::json& config);
ModelDirectory open_bart(const std::string& folder, const nlohmann::json& config);
ModelDirectory open_mbart(const std::string& folder, const nlohmann::json& config);
ModelDirectory open_m2m100(const std::string& folder, const nlohmann::json& config);
ModelDirectory open_pegasus(const std::string& folder, const nlohmann::json& config);
ModelDirectory open_blenderbot(const std::string& folder, const nlohmann::json& config);
ModelDirectory open_blenderbot_small(const std::string& folder, const nlohmann::json& config);
ModelDirectory open_t5(const std::string& folder, const nlohmann::json& config);
ModelDirectory open_mt5(const std::string& folder, const nlohmann::json& config);
ModelDirectory open_umt5(const std::string& folder, const nlohmann::json& config);
ModelDirectory open_gpt2(const std::string& folder, const nlohmann::json& config);
ModelDirectory open_llama(const std::string& folder, const nlohmann::json& config);
ModelDirectory open_gpt_neox(const std::string& folder, const nlohmann::json& config);
ModelDirectory open_gptj(const std::string& folder, const nlohmann::json& config);
ModelDirectory open_opt(const std::string& folder, const nlohmann::json& config);
ModelDirectory open_bert(const std::string& folder, const nlohmann::json& config);
ModelDirectory open_roberta(const std::string& folder, const nlohmann::json& config);
ModelDirectory open_camembert(const std::string& folder, const nlohmann::json& config);
ModelDirectory open_distilbert(const std::string& folder, const nlohmann::json& config);
ModelDirectory open_vit(const std::string& folder, const nlohmann::json& config);

// CTranslate2: model.bin and vocabularies.
ModelDirectory open_ctranslate2(const std::string& folder);

// Marian: a folder with decoder.yml, the folder of a training, or one of its .npz files.
ModelDirectory open_marian(const std::string& path);
// Reports the options of special:model.yml in `file` that nothing obeys.
void check_marian_keys(const ForeignConfig& config, const std::string& file, std::vector<std::string>& remarks);

// Sockeye 3: a folder with params.best.
ModelDirectory open_sockeye(const std::string& folder);

// fairseq: a .pt file, or a folder with one of the usual name.
ModelDirectory open_fairseq(const std::string& path);

// Of a model into several languages, sources begin with a token such as >>deu<<. If there is one, it is chosen. After
// the decoding options are read.
void add_opus_languages(ModelDirectory& model);

// llama.cpp: a GGUF file, or any part of a model in several.
ModelDirectory open_gguf(const std::string& path);
// Whether such a file holds a model of texts, or is damaged: not an adapter or a projector of images.
bool may_be_gguf_model(const std::string& path);

// Reports the options of a fairseq checkpoint that nothing obeys.
void check_fairseq_options(const ForeignConfig& config, const std::string& file, std::vector<std::string>& remarks);

// The names of tensors. CTranslate2 has two for the source's embedding; Marian's older files have the output
// transposed.
TensorMap ctranslate2_tensors(const ModelConfig& net, const std::string& source_embedding);
TensorMap marian_tensors(const ModelConfig& net, bool older);
TensorMap marian_mt_tensors(const ModelConfig& net);
// `scores_by_layer`: those of layer i (from 0) are divided by i + 1, which here its queries are.
TensorMap gpt2_tensors(const ModelConfig& net, const std::string& prefix, bool scores_by_layer = false);
TensorMap bert_tensors(const ModelConfig& net);

// Sizes that a configuration of MarianMT, BART or their like may leave out.
struct BartSizes {
    std::int64_t layers = 12, d_model = 1024, d_ff = 4096, max_length = 1024;
};
void read_bart_sizes(const ForeignConfig& config, ModelConfig& net, const BartSizes& usual = {});
// Decoders and encoders as fairseq and Hugging Face's Marian, BART, mBART and M2M100 name them; `prefix` is "model." or
// empty. Embeddings and output are not among them.
void add_bart_stacks(TensorMap& map, const ModelConfig& config, const std::string& prefix);

}  // namespace headscope
