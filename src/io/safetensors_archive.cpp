#include <memory>
#include <utility>

#include "io/archive_shards.h"
#include "io/mapped_file.h"
#include "io/safetensors_header.h"
#include "io/tensor_archive.h"

namespace headscope {

TensorArchive open_safetensors_archive(const std::string& path) {
    if (is_shard_index(path)) {
        return open_shards(path, open_safetensors_archive);
    }
    const auto file = std::make_shared<const MappedFile>(path);
    const SafeTensorsHeader header = parse_safetensors_header(file->bytes(), path);
    std::vector<StoredTensor> tensors;
    for (const SafeTensorsEntry& entry : header.entries) {
        StoredTensor tensor;
        tensor.name = entry.name;
        tensor.file = path;
        tensor.dtype = entry.dtype;
        tensor.shape = entry.shape;
        tensor.data = {file->bytes().subspan(entry.begin, entry.bytes), file};
        tensor.release = [file](std::span<const std::byte> part) { file->release(part); };
        tensors.push_back(std::move(tensor));
    }
    return {path, std::move(tensors), header.metadata};
}

}  // namespace headscope
