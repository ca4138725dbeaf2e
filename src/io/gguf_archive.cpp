#include <filesystem>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "io/gguf_header.h"
#include "io/mapped_file.h"
#include "io/tensor_archive.h"
#include "support/check.h"

namespace headscope {

namespace {

using nlohmann::json;

// Keys of a part of a model.
constexpr const char* kNumber = "split.no";
constexpr const char* kCount = "split.count";
constexpr const char* kTensors = "split.tensors.count";

// A number from 0; `fallback` if there is none.
std::int64_t count_of(const json& metadata, const char* key, std::int64_t fallback, const std::string& path) {
    const auto found = metadata.find(key);
    if (found == metadata.end()) {
        return fallback;
    }
    if (!found->is_number_integer() || *found < 0 || *found > (1 << 30)) {
        throw Error(fmt::format("'{}': \"{}\" is {}, expected a number from 0", path, key, found->dump()));
    }
    return found->get<std::int64_t>();
}

// The end of a part's name, counted from 0.
std::string part_ending(std::int64_t number, std::int64_t count) {
    return fmt::format("-{:05}-of-{:05}.gguf", number + 1, count);
}

StoredTensor stored(const GgufEntry& entry, const std::string& path, const std::shared_ptr<const MappedFile>& file) {
    StoredTensor tensor;
    tensor.name = entry.name;
    tensor.file = path;
    tensor.shape = entry.shape;
    const HeldBytes data{file->bytes().subspan(entry.begin, entry.bytes), file};
    tensor.data = data;
    tensor.release = [file](std::span<const std::byte> part) { file->release(part); };
    if (entry.type->unpack == nullptr) {
        tensor.dtype = entry.type->name;
        return tensor;
    }
    tensor.dtype = "F32";
    tensor.blocks = entry.type;
    tensor.unpack = [data, type = entry.type, name = entry.name, path] {
        auto values = std::make_shared<std::vector<float>>(data.bytes.size() / type->bytes * type->elements);
        if (!unpack_blocks(*type, data.bytes, *values)) {
            throw Error(fmt::format("tensor '{}' in '{}' has a scale that is not a finite number", name, path));
        }
        return HeldBytes{std::as_bytes(std::span(*values)), values};
    };
    return tensor;
}

// Appends the tensors of a file, and returns what else it holds.
json append_file(const std::string& path, std::vector<StoredTensor>& tensors) {
    const auto file = std::make_shared<const MappedFile>(path);
    GgufHeader header = parse_gguf_header(file->bytes(), path);
    for (const GgufEntry& entry : header.entries) {
        tensors.push_back(stored(entry, path, file));
    }
    return std::move(header.metadata);
}

// Those of one part of several, which the caller has found in `path` with this number and count.
TensorArchive open_parts(const std::string& path, std::int64_t given, std::int64_t count) {
    const std::string ending = part_ending(given, count);
    if (!path.ends_with(ending)) {
        throw Error(fmt::format("'{}' is part {} of {}, so its name must end with {} for the others to be found", path,
                                given + 1, count, ending));
    }
    std::vector<StoredTensor> tensors;
    json first;
    for (std::int64_t number = 0; number < count; ++number) {
        const std::string part = path.substr(0, path.size() - ending.size()) + part_ending(number, count);
        if (!std::filesystem::exists(part)) {
            throw Error(fmt::format("'{}' is part {} of {}, but part {} is missing: '{}'", path, given + 1, count,
                                    number + 1, part));
        }
        json metadata = append_file(part, tensors);
        if (count_of(metadata, kNumber, 0, part) != number || count_of(metadata, kCount, 1, part) != count) {
            throw Error(fmt::format("'{}': \"{}\" is {} and \"{}\" {}, expected {} and {} by its name", part, kNumber,
                                    metadata.value(kNumber, json()).dump(), kCount,
                                    metadata.value(kCount, json()).dump(), number, count));
        }
        if (number == 0) {
            first = std::move(metadata);
        }
    }
    const auto expected = count_of(first, kTensors, std::ssize(tensors), path);
    if (expected != std::ssize(tensors)) {
        throw Error(fmt::format("'{}': \"{}\" is {}, but the {} parts hold {} tensors", path, kTensors, expected, count,
                                tensors.size()));
    }
    return {path, std::move(tensors), std::move(first)};
}

}  // namespace

TensorArchive open_gguf_archive(const std::string& path) {
    std::vector<StoredTensor> tensors;
    json metadata = append_file(path, tensors);
    const std::int64_t count = count_of(metadata, kCount, 1, path);
    if (count > 1) {
        return open_parts(path, count_of(metadata, kNumber, 0, path), count);
    }
    return {path, std::move(tensors), std::move(metadata)};
}

}  // namespace headscope
