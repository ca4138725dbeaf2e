// What the readers of GGUF files share.
#pragma once

#include <string_view>

#include "import/problems.h"
#include "import/tensor_map.h"
#include "model/model_directory.h"

namespace headscope {

// How a family's layers differ from those of the others.
struct GgufFamily {
    std::string_view name;          // "general.architecture"
    bool alternating_rows = false;  // of queries and keys, see TensorRow
    QueryKeyNorm query_key_norm = QueryKeyNorm::None;
    bool is_gemma = false;  // see set_gemma()
};

// The names of tensors.
TensorMap gguf_tensors(const ModelConfig& net, const GgufFamily& family);

// The tokenizer that the file's keys describe, with as many pieces as `rows`, and the ids around texts.
void open_gguf_tokenizer(const ForeignConfig& config, std::int64_t rows, Problems& problems, ModelDirectory& model);

}  // namespace headscope
