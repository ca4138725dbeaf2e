#include "io/safetensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "io/atomic_file.h"
#include "io/missing_tensor.h"
#include "support/check.h"

namespace headscope {

namespace {

constexpr std::size_t kAlignment = 8;  // of the data's start, as the reference implementation writes it

std::optional<DType> dtype_of(const std::string& name) {
    for (const DType dtype : {DType::F64, DType::F32, DType::F16, DType::BF16, DType::I8, DType::I32}) {
        if (name == name_of(dtype)) {
            return dtype;
        }
    }
    return std::nullopt;
}

std::vector<const TensorToWrite*> in_file_order(const std::vector<TensorToWrite>& tensors) {
    std::vector<const TensorToWrite*> ordered;
    for (const TensorToWrite& tensor : tensors) {
        HEADSCOPE_CHECK(tensor.data != nullptr || tensor.shape.elements() == 0,
                        "tensor '" + tensor.name + "' has no data to write");
        ordered.push_back(&tensor);
    }
    std::stable_sort(ordered.begin(), ordered.end(), [](const TensorToWrite* a, const TensorToWrite* b) {
        return size_of(a->dtype) > size_of(b->dtype);
    });
    return ordered;
}

std::size_t bytes_of(const TensorToWrite& tensor) {
    return static_cast<std::size_t>(tensor.shape.elements()) * size_of(tensor.dtype);
}

std::string header_text(const std::string& path, const std::vector<const TensorToWrite*>& tensors,
                        const std::map<std::string, std::string>& metadata) {
    nlohmann::ordered_json header = nlohmann::ordered_json::object();
    if (!metadata.empty()) {
        header["__metadata__"] = metadata;
    }
    std::size_t offset = 0;
    for (const TensorToWrite* tensor : tensors) {
        if (tensor->name == "__metadata__" || header.contains(tensor->name)) {
            throw Error(fmt::format("cannot write '{}': the tensor name '{}' is {}; tensor names must be unique", path,
                                    tensor->name, tensor->name == "__metadata__" ? "reserved" : "used twice"));
        }
        auto dims = nlohmann::ordered_json::array();
        for (int dim = 0; dim < tensor->shape.rank(); ++dim) {
            dims.push_back(tensor->shape[dim]);
        }
        const std::size_t end = offset + bytes_of(*tensor);
        header[tensor->name] = {{"dtype", name_of(tensor->dtype)}, {"shape", dims}, {"data_offsets", {offset, end}}};
        offset = end;
    }
    std::string text;
    try {
        text = header.dump();
    } catch (const nlohmann::json::type_error& error) {
        throw Error(
            fmt::format("cannot write '{}': a tensor's name or a metadata text is not UTF-8: {}", path, error.what()));
    }
    text.resize((text.size() + kAlignment - 1) / kAlignment * kAlignment, ' ');
    return text;
}

}  // namespace

bool MappedTensor::aligned() const {
    return reinterpret_cast<std::uintptr_t>(data.data()) % size_of(dtype) == 0;
}

SafeTensorsFile SafeTensorsFile::open(const std::string& path) {
    SafeTensorsFile file;
    file.path_ = path;
    file.file_ = std::make_shared<const MappedFile>(path);
    file.header_ = std::make_shared<const SafeTensorsHeader>(parse_safetensors_header(file.file_->bytes(), path));
    std::unordered_map<std::string, std::size_t> index;
    for (std::size_t entry = 0; entry < file.header_->entries.size(); ++entry) {
        index.emplace(file.header_->entries[entry].name, entry);
    }
    file.index_ = std::make_shared<const std::unordered_map<std::string, std::size_t>>(std::move(index));
    return file;
}

MappedTensor SafeTensorsFile::at(const std::string& name) const {
    const auto found = index_->find(name);
    if (found == index_->end()) {
        std::vector<std::string> names;
        for (const SafeTensorsEntry& entry : entries()) {
            names.push_back(entry.name);
        }
        missing_tensor(path_, name, names);
    }
    const SafeTensorsEntry& entry = entries()[found->second];
    const std::optional<DType> dtype = dtype_of(entry.dtype);
    if (!dtype) {
        throw Error(fmt::format("tensor '{}' in '{}' has the dtype {}; Headscope reads F64, F32, F16, BF16, I8 and I32",
                                name, path_, entry.dtype));
    }
    if (entry.shape.size() > static_cast<std::size_t>(kMaxRank)) {
        throw Error(fmt::format("tensor '{}' in '{}' has {} dimensions; Headscope reads up to {}", name, path_,
                                entry.shape.size(), kMaxRank));
    }
    std::array<std::int64_t, kMaxRank> dims{};
    std::copy(entry.shape.begin(), entry.shape.end(), dims.begin());
    Shape shape;
    switch (entry.shape.size()) {
        case 1: shape = {dims[0]}; break;
        case 2: shape = {dims[0], dims[1]}; break;
        case 3: shape = {dims[0], dims[1], dims[2]}; break;
        case 4: shape = {dims[0], dims[1], dims[2], dims[3]}; break;
        default: break;
    }
    return {name, *dtype, shape, file_->bytes().subspan(entry.begin, entry.bytes)};
}

void SafeTensorsFile::release(std::span<const std::byte> part) const {
    file_->release(part);
}

void write_safetensors(const std::string& path, const std::vector<TensorToWrite>& tensors,
                       const std::map<std::string, std::string>& metadata) {
    const std::vector<const TensorToWrite*> ordered = in_file_order(tensors);
    const std::string header = header_text(path, ordered, metadata);
    std::array<char, 8> length{};  // little-endian on every machine
    for (std::size_t byte = 0; byte < length.size(); ++byte) {
        length[byte] = static_cast<char>(header.size() >> (8 * byte) & 0xffU);
    }
    AtomicFile file(path);
    file.write(length.data(), length.size());
    file.write(header);
    for (const TensorToWrite* tensor : ordered) {
        file.write(tensor->data, bytes_of(*tensor));
    }
    file.commit();
}

}  // namespace headscope
