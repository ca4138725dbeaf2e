// Tensors in files that everyone reads: the safetensors format, mapped in and written whole or not at all.
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

// A tensor inside a mapped file; valid while some copy of its SafeTensorsFile lives. Other writers need not align their
// data: copy it out (memcpy, Backend::upload), or look at aligned() before reading it in place.
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
    // Error for a file that is missing or damaged in any way (io/safetensors_header.h).
    static SafeTensorsFile open(const std::string& path);

    const std::string& path() const { return path_; }
    const std::vector<SafeTensorsEntry>& entries() const { return header_->entries; }
    const std::map<std::string, std::string>& metadata() const { return header_->metadata; }
    bool contains(const std::string& name) const { return index_->contains(name); }

    // Error for an absent name, which lists names near it, and for a dtype or rank that Headscope has not.
    MappedTensor at(const std::string& name) const;

private:
    std::string path_;
    std::shared_ptr<const MappedFile> file_;
    std::shared_ptr<const SafeTensorsHeader> header_;
    std::shared_ptr<const std::unordered_map<std::string, std::size_t>> index_;  // name to entry
};

struct TensorToWrite {
    std::string name;
    DType dtype = DType::F32;
    Shape shape;
    const void* data = nullptr;  // contiguous, row-major, shape.elements() of dtype
};

// Wider dtypes are laid first, so that all data is aligned; within a dtype the order is kept. Error, with nothing
// changed on disk, when a name is used twice or a name or metadata is no UTF-8 or the file cannot be written.
void write_safetensors(const std::string& path, const std::vector<TensorToWrite>& tensors,
                       const std::map<std::string, std::string>& metadata = {});

}  // namespace headscope
