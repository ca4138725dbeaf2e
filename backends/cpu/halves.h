// Rows of F16 and BF16 to float.
#pragma once

#include <cstdint>

#include "tensor/dtype.h"

namespace headscope::cpu {

void widen_f16(const std::uint16_t* from, std::int64_t count, float* to);

// Of `dtype`, F16 or BF16.
void widen_halves(DType dtype, const std::uint16_t* from, std::int64_t count, float* to);

}  // namespace headscope::cpu
