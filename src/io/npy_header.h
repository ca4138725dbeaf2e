// The header of a .npy file, one array of numpy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace headscope {

struct NpyHeader {
    std::string dtype;  // as safetensors spells it; numpy's own name for types that it lacks: "|O"
    bool big_endian = false;
    bool fortran_order = false;
    std::vector<std::int64_t> shape;
    std::size_t data_begin = 0;
};

// `file` is at least the beginning of the file, of kNpyHeaderBytes. Error without the file's name.
NpyHeader parse_npy_header(std::span<const std::byte> file);

constexpr std::size_t kNpyHeaderBytes = std::size_t{1} << 16U;  // those of plain arrays take 128

}  // namespace headscope
