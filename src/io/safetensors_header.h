// The header of a safetensors file, parsed and validated as a whole before use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace headscope {

// One tensor of the header. Its dtype may be one that Headscope does not support ("U8", "I64").
struct SafeTensorsEntry {
    std::string name;
    std::string dtype;
    std::vector<std::int64_t> shape;
    std::size_t begin = 0;  // bytes from the start of the file
    std::size_t bytes = 0;
};

struct SafeTensorsHeader {
    std::vector<SafeTensorsEntry> entries;  // in the order of their data
    std::map<std::string, std::string> metadata;
};

// `file` is the whole file, `path` is for messages. Error, naming path and tensor, for any damage: too short, a header
// longer than the file or 100 MB, invalid JSON or UTF-8, missing, unknown or repeated fields and names, offsets past
// the end, overlaps, holes, sizes that do not match dtype and shape.
SafeTensorsHeader parse_safetensors_header(std::span<const std::byte> file, const std::string& path);

// Bits per element of a dtype of the format, 0 for an unknown name.
std::size_t safetensors_bits(const std::string& dtype);

}  // namespace headscope
