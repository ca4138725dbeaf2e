// The index file of weights in several files: {"weight_map": {"tensor": "model-00001-of-00002.safetensors", ..}}.
#pragma once

#include <functional>
#include <string>

#include "io/tensor_archive.h"

namespace headscope {

// Whether a file is such an index, by the end of its name.
bool is_shard_index(const std::string& path);

// Opens all shards as one archive. Error that names the index and the tensor for a missing shard, a tensor that is not
// in its shard or not in the index, and a shard that is not a plain file name or is a link out of the index's folder.
// Only where the index itself is a link may shards be links to the same place, as in Hugging Face's cache.
TensorArchive open_shards(const std::string& path, const std::function<TensorArchive(const std::string&)>& open);

}  // namespace headscope
