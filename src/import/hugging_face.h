// What the families of Hugging Face have in common.
#pragma once

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

// The author's decoding options, from generation_config.json or, in older folders, from config.json, which also say
// what an output begins with.
void read_generation(const std::string& folder, const nlohmann::json& config, Problems& problems,
                     ModelDirectory& model);

// check_imported() with the keys of config.json.
void check_hugging_face(const ModelDirectory& model);

// tokenizer_config.json, an empty object if it is missing.
nlohmann::json tokenizer_settings(const std::string& folder);
// One tokenizer for both sides, by the files that there are, and the id of the unknown piece. Without any file, texts
// are ids, and a remark says so.
void open_tokenizers(const std::string& folder, Problems& problems, ModelDirectory& model, bool mt5 = false);
// The languages among the control pieces.
void add_languages(ModelDirectory& model);
// The author's choices of those that the texts need.
void choose_languages(const std::string& folder, ModelDirectory& model);

}  // namespace headscope
