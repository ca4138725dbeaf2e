// The parts of Hugging Face's folders that are written.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "import/exporting.h"
#include "import/problems.h"
#include "model/model_directory.h"

namespace headscope {

struct ExportedModel {
    nlohmann::json config;  // config.json
    std::vector<ExportedTensor> tensors = {};
};

// What their files call an activation, and all that they can hold, by our names.
const char* hugging_face_activation(Activation activation);
const std::vector<nlohmann::json>& hugging_face_activations();

// Names and contents of files.
using FileTexts = std::vector<std::pair<std::string, std::string>>;

// What a family cannot hold, and the model in its form.
void check_gpt2(const ModelConfig& net, Problems& problems);
void check_bert(const ModelConfig& net, Problems& problems);
ExportedModel exported_gpt2(const ModelConfig& net, const Parameters& parameters);
ExportedModel exported_bert(const ModelConfig& net, const Parameters& parameters);

// tokenizer.json and tokenizer_config.json, with which transformers gives the ids of the model's tokenizer and the
// tokens around its texts. None for a model whose texts are ids.
FileTexts language_tokenizer_files(const ModelDirectory& model, Problems& problems);

}  // namespace headscope
