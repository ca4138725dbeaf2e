// A model on disk: config.json, model.safetensors (F32 or F16) and one or two tokenizers.
// docs/model-directory.md.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "model/family.h"
#include "model/parameters.h"
#include "model/weight_source.h"
#include "text/tokenizer.h"

namespace headscope {

struct ModelDirectory {
    std::string path;
    ModelConfig config = {};
    std::shared_ptr<const Tokenizer> source_tokenizer = {};
    std::shared_ptr<const Tokenizer> target_tokenizer = {};  // the same object when shared
    std::shared_ptr<const WeightSource> weights = {};
    // The decoding options of the model's author, which decoding_choices_of() reads; null: none.
    std::shared_ptr<const nlohmann::json> decoding = {};
    std::string decoding_origin = {};       // their file, for messages
    std::vector<std::string> remarks = {};  // what users should know of another program's model
};

inline constexpr const char* kDecodingFile = "decoding.json";  // in a model directory

enum class FolderKind : std::uint8_t {
    Neither,
    Model,     // a model directory: holds config.json
    Training,  // a training run: holds checkpoints/
};
FolderKind folder_kind(const std::string& path);

// The folder, or its subfolder `model` if only that is a model directory: a training run writes its model there.
std::string model_folder(const std::string& path);

// Reads the configuration and tokenizers and checks that sizes and special ids agree. Errors name file and key.
ModelDirectory open_model_directory(const std::string& path);

// Reads the decoding options of a model directory, if it has any.
void read_decoding(const std::string& directory, ModelDirectory& model);

// Error for a model of another family, which says which command takes it.
void require_architecture(const ModelDirectory& model, Architecture wanted);

// Error for a model that reads pictures, by what cannot read them ("headscope embed").
void require_text_input(const ModelDirectory& model, const char* what);

// Fills every parameter, tensor by tensor. Errors name the tensor that is missing, unknown, of another shape or of a
// dtype other than F32, F16 or BF16.
void load_parameters(Backend& backend, const WeightSource& weights, Parameters& parameters);
// Only those of a table: the others keep their values.
void load_parameters(Backend& backend, const WeightSource& weights, const std::vector<ParameterSpec>& table,
                     Parameters& parameters);
// What its file has in blocks that can be kept.
BlocksInFile blocks_in_file(const ModelDirectory& model);
// Those of a directory, for inference; `storage` as in Parameters.
std::shared_ptr<const Parameters> read_parameters(Backend& backend, const ModelDirectory& model,
                                                  const WeightStorage& storage);
void save_parameters(Backend& backend, const std::string& file, const Parameters& parameters, DType dtype,
                     const std::string& metadata_json);

// The folder that write_model_directory() writes, and the temporary folders that it makes beside it and removes.
std::vector<std::string> folders_of_model(const std::string& path);
// Writes a whole model directory beside the old one, then exchanges the two. Without `decoding` it keeps the old one's.
void write_model_directory(Backend& backend, const std::string& path, const ModelConfig& config,
                           const Parameters& parameters, DType dtype, const Tokenizer& source_tokenizer,
                           const Tokenizer& target_tokenizer, const nlohmann::json* decoding = nullptr);

}  // namespace headscope
