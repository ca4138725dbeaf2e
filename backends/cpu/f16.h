// Rows of F16 to float.
#pragma once

#include <cstdint>

namespace headscope::cpu {

void widen_f16(const std::uint16_t* from, std::int64_t count, float* to);

}  // namespace headscope::cpu
