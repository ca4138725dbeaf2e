// Conversion of many values of a 16-bit type at once, which compilers turn into vector instructions.
#pragma once

#include <cstddef>
#include <span>

namespace headscope {

// The values of a file, which need not be aligned, in F32: as from_f16() and from_bf16() give them.
void widen_f16(const std::byte* from, std::span<float> to);
void widen_bf16(const std::byte* from, std::span<float> to);

}  // namespace headscope
