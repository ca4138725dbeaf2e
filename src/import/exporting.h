// What the writers of other programs' formats have in common.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "import/problems.h"
#include "import/tensor_map.h"
#include "model/model_directory.h"

namespace headscope {

// One tensor as the other program lays it out, in F32.
struct ExportedTensor {
    std::string name;
    std::vector<std::int64_t> shape;
    std::vector<float> values;
};

// The rows of a map that the model has parameters for.
std::vector<ExportedTensor> exported_tensors(const TensorMap& map, const Parameters& parameters);
// Zeros for each row of the map that is the bias of an exported matrix and that the model has no parameter for.
void add_zero_biases(const TensorMap& map, std::vector<ExportedTensor>& tensors);
// The bias of the output with -1e9 where a piece has no probability.
void suppress(const ModelConfig& config, const std::string& bias, std::vector<ExportedTensor>& tensors);

bool is_sentencepiece(const Tokenizer& tokenizer);
// The author's length penalty, if it is the power of the length; else 1, which is near the others.
double power_of(const nlohmann::json& decoding);
// Writes the SentencePiece models, if the tokenizers have some.
void write_segmenters(const ModelDirectory& model, const std::string& folder, const char* source, const char* target);

// The writers. Each adds what it cannot hold to the problems and then, if there are none, writes its files.
void export_hugging_face(const ModelDirectory& model, const Parameters& parameters, const std::string& folder);
void export_ctranslate2(const ModelDirectory& model, const Parameters& parameters, const std::string& folder);
void export_marian(const ModelDirectory& model, const Parameters& parameters, const std::string& folder);

}  // namespace headscope
