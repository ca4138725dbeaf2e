// Element types. F64 is only for the oracle; F16 and BF16 are storage, sums are F32.
#pragma once

#include <cstddef>
#include <cstdint>

namespace headscope {

enum class DType : std::uint8_t { F64, F32, F16, BF16, I8, I32 };

// Bytes of one element.
std::size_t size_of(DType dtype);

// "F32", as safetensors spells it.
const char* name_of(DType dtype);

// Conversion to and from the 16-bit types: to nearest, ties to even; NaN stays NaN.
std::uint16_t to_f16(float value);
float from_f16(std::uint16_t bits);
std::uint16_t to_bf16(float value);
float from_bf16(std::uint16_t bits);

}  // namespace headscope
