// The header of a safetensors file: parsed and checked as a whole before anything is read through it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace headscope {

// One tensor as the header names it. The dtype may be one that Headscope does not compute with ("U8", "I64").
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
// that is longer than the file or 100 MB, broken JSON or UTF-8, missing, unknown or repeated fields and names, offsets
// past the end, overlaps, holes, sizes that do not fit dtype and shape.
SafeTensorsHeader parse_safetensors_header(std::span<const std::byte> file, const std::string& path);

// Bits of one element of a dtype of the format, 0 for a name that is not known.
std::size_t safetensors_bits(const std::string& dtype);

}  // namespace headscope
