// headscope average: the mean of checkpoints and models, as a model. Paper 6.1.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backend/backend.h"

namespace headscope {

// Writes the mean of `paths`, each once, to a model directory in F32: checkpoints of a training (step-N.safetensors,
// best.safetensors), which lie in its folder beside training.json and tokenizer/, and models that open_model() opens.
// Tokenizers, configuration and decoding options are those of the first. Error, naming the file, for one that is
// missing, damaged, named twice, or of another shape or vocabulary than the first. Returns the number of parameters.
std::int64_t average_models(Backend& backend, const std::vector<std::string>& paths, const std::string& output);

}  // namespace headscope
