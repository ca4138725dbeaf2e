// The peak speed of a device's matrix products, to compare a model's speed with.
#pragma once

#include <cstdint>

#include "backend/precision.h"

namespace headscope {

struct Peak {
    std::int64_t side = 0;  // of the square matrices
    double flops_per_second = 0.0;
};

// The fastest of several products in this arithmetic. Matrices grow up to 8192 x 8192, until launch overhead is
// negligible.
Peak measure_peak(Backend& backend, const Arithmetic& arithmetic);

}  // namespace headscope
