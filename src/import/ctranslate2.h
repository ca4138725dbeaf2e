// What the readers of CTranslate2's translation and language models have in common.
#pragma once

#include <memory>
#include <string>

#include "import/problems.h"
#include "import/tensor_map.h"
#include "model/model_directory.h"

namespace headscope {

// Where a layer has T5's numbers for distances.
inline constexpr const char* kCTranslate2Distances = "self_attention/relative_attention_bias";

// The name of the source's embedding, of which there are two.
std::string ctranslate2_source_embedding(const TensorArchive& archive);
// The configuration of what the file holds: an encoder, a decoder or both. `settings`: its options beside tensors.
ModelConfig ctranslate2_network(const TensorArchive& archive, const ForeignConfig& settings, Problems& problems);
// The weights, whose tables begin with the source's.
void map_ctranslate2_weights(std::shared_ptr<const TensorArchive> archive, ModelDirectory& model);

// A decoder alone (GPT-2) or an encoder alone (BERT), whose network is known.
void read_ctranslate2_language_model(const ForeignConfig& settings, Problems& problems, ModelDirectory& model);

}  // namespace headscope
