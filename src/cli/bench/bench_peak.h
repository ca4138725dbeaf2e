// What a device's products reach at best, which a model's speed is held against.
#pragma once

#include <cstdint>

#include "backend/precision.h"

namespace headscope {

struct Peak {
    std::int64_t side = 0;  // of the square matrices
    double flops_per_second = 0.0;
};

// The best of several products in this arithmetic, of matrices that grow up to 8192 x 8192 until one takes so long that
// starting it is nothing beside it.
Peak measure_peak(Backend& backend, const Arithmetic& arithmetic);

}  // namespace headscope
