// The safetensors format: files are memory-mapped for reading and written atomically.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "io/mapped_file.h"
#include "io/safetensors_header.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace headscope {

// A tensor inside a mapped file, valid while a copy of its SafeTensorsFile lives. Other writers may not align their
// data: check aligned() before reading it in place, or copy it (memcpy, Backend::upload).
struct MappedTensor {
    std::string name;
    DType dtype = DType::F32;
    Shape shape;
    std::span<const std::byte> data;

    bool aligned() const;
};

// Copies are cheap and share the mapping.
class SafeTensorsFile {
public:
    // Error for a missing or damaged file (io/safetensors_header.h).
    static SafeTensorsFile open(const std::string& path);

    const std::string& path() const { return path_; }
    const std::vector<SafeTensorsEntry>& entries() const { return header_->entries; }
    const std::map<std::string, std::string>& metadata() const { return header_->metadata; }
    bool contains(const std::string& name) const { return index_->contains(name); }

    // Error for an unknown name, with similar names, and for an unsupported dtype or rank.
    MappedTensor at(const std::string& name) const;
    // Lets go of the memory of a tensor's data, or of a part; who reads it again has it again.
    void release(std::span<const std::byte> part) const;

private:
    std::string path_;
    std::shared_ptr<const MappedFile> file_;
    std::shared_ptr<const SafeTensorsHeader> header_;
    std::shared_ptr<const std::unordered_map<std::string, std::size_t>> index_;  // name -> entry
};

struct TensorToWrite {
    std::string name;
    DType dtype = DType::F32;
    Shape shape;
    const void* data = nullptr;  // contiguous, row-major, shape.elements() of dtype
};

// Writes wider dtypes first, so that all data is aligned; keeps the order within a dtype. Error, without changes on
// disk, if a name is used twice, a name or metadata is not UTF-8, or the file cannot be written.
void write_safetensors(const std::string& path, const std::vector<TensorToWrite>& tensors,
                       const std::map<std::string, std::string>& metadata = {});

}  // namespace headscope
