// The header of a GGUF file: what llama.cpp keeps of a model besides its tensors, and where these are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "io/gguf_types.h"

namespace headscope {

struct GgufEntry {
    std::string name;
    const GgufType* type;
    std::vector<std::int64_t> shape;   // row-major: the last dimension is that of rows
    std::size_t begin = 0, bytes = 0;  // in the file
};

struct GgufHeader {
    nlohmann::json metadata;  // an object: numbers, booleans, strings and lists of them
    std::vector<GgufEntry> entries;
};

// Versions 2 and 3, little-endian. `file` is the whole file, `path` is for messages. Error that names it and the key or
// tensor for any damage: fields past the end, names that occur twice or are not UTF-8, types that are not supported,
// sizes that overflow, tensors that overlap or lie outside.
GgufHeader parse_gguf_header(std::span<const std::byte> file, const std::string& path);

}  // namespace headscope
