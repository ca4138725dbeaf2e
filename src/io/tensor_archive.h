// Named tensors in another program's file: one interface for safetensors, PyTorch, npz, CTranslate2 and GGUF files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace headscope {

struct GgufType;

// Row-major and contiguous, but perhaps unaligned. Valid while `owner` lives, even without the archive.
struct ArchiveTensor {
    DType dtype = DType::F32;
    Shape shape;
    std::span<const std::byte> data;
    std::shared_ptr<const void> owner;
};

struct HeldBytes {
    std::span<const std::byte> bytes;
    std::shared_ptr<const void> owner;
};

// A tensor as its file stores it. The dtype may be one that at() cannot return, such as "F8_E4M3".
struct StoredTensor {
    std::string name;
    std::string file;   // for messages
    std::string dtype;  // as safetensors spells it: "F32", "I64", "BOOL"
    std::vector<std::int64_t> shape;
    std::vector<std::int64_t> strides;  // in elements; empty: row-major
    bool big_endian = false;
    std::vector<float> scales;  // quantized weights: value / scale; one for the tensor or one per row
    HeldBytes data;             // from the first element on
    // Where the data must be unpacked first.
    std::function<HeldBytes()> unpack;
    // What the data are, if rows of whole blocks of quantised numbers. unpack() gives the numbers.
    const GgufType* blocks = nullptr;
    // Lets go of the memory into which a part of the data is mapped; who reads it again has it again.
    std::function<void(std::span<const std::byte>)> release;
};

class TensorArchive {
public:
    // Error for a name that occurs twice, and for a shape that does not fit its data.
    TensorArchive(std::string path, std::vector<StoredTensor> tensors, nlohmann::json objects);

    const std::string& path() const { return path_; }
    const std::vector<StoredTensor>& entries() const { return tensors_; }
    std::vector<std::string> names() const;  // in the file's order
    bool contains(const std::string& name) const { return index_.contains(name); }

    // Shape and dtype without reading the data. Error that suggests similar names.
    const StoredTensor& entry(const std::string& name) const;
    // F32, F16, BF16 and I8 as stored. F64 and quantized weights become F32, other integers and booleans I32.
    // Error that names file and tensor for other dtypes, more than 4 dimensions and values that do not fit.
    ArchiveTensor at(const std::string& name) const;
    // The file that holds the tensor: a shard, or path().
    const std::string& place_of(const std::string& name) const { return entry(name).file; }
    // For a tensor that is not needed for now.
    void release(const std::string& name) const;

    // What the file holds besides tensors: the plain values of a pickle, metadata of safetensors, scalars and strings
    // of CTranslate2, texts such as "special:model.yml" of an npz.
    const nlohmann::json& objects() const { return objects_; }
    // For who needs them no longer than it takes to open a model.
    nlohmann::json take_objects() { return std::exchange(objects_, {}); }

private:
    std::string path_;
    std::vector<StoredTensor> tensors_;
    std::unordered_map<std::string, std::size_t> index_;
    nlohmann::json objects_;
};

// All throw an Error that names the file if it is missing, damaged, truncated or of an unsupported kind.

// A file, or its index *.safetensors.index.json with all shards in the same folder.
TensorArchive open_safetensors_archive(const std::string& path);
// What torch.save writes, zip or legacy, or its index *.bin.index.json. Names of nested containers are joined by '.':
// {"args": Namespace(..), "model": {"a": tensor}} holds the tensor "model.a" and the object "args". Executes nothing:
// only tensors and plain values are read, a call to anything else is an Error.
TensorArchive open_pickle_archive(const std::string& path);
// What numpy.savez and Marian write. Entries "special:*" are texts in objects().
TensorArchive open_npz_archive(const std::string& path);
// model.bin of binary version 2 to 6. objects() has binary_version, spec_name, spec_revision, and scalars and strings
// under their names.
TensorArchive open_ctranslate2_archive(const std::string& path);
// llama.cpp's: a file of version 2 or 3, or any part of a model in several, -00001-of-00003.gguf. Shapes are row-major.
// Quantised tensors are F32 for at(). objects() are the keys and values of the (first) file.
TensorArchive open_gguf_archive(const std::string& path);

}  // namespace headscope
