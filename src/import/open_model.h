// Opens a model, whoever wrote it.
#pragma once

#include <string>

#include "model/model_directory.h"

namespace headscope {

// What the bytes at a path are, whatever their names.
enum class ModelFormat : std::uint8_t { None, Headscope, HuggingFace, CTranslate2, Marian, Sockeye, Fairseq, Gguf };
ModelFormat format_of(const std::string& path);

// Our own model directory, or another program's folder or file (docs/importing.md). Weights stay in their files until
// read_parameters() or load_parameters(). Error that names file and key; if a model of another program cannot be
// represented, it lists all reasons.
ModelDirectory open_model(const std::string& path);

}  // namespace headscope
