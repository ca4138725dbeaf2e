// Section 3.5 as a picture: positions from above to below, dimensions from left to right.
#pragma once

#include "model/config.h"
#include "paint/sketch.h"

namespace headscope {

struct SinusoidOptions {
    int positions = 64;
    int columns = 128;  // at most so many dimensions are shown, in pairs of sine and cosine at even distances
    double cell = 0.5;
    Look look = {};
};
// Error for a model whose positions are learned: its table is a parameter like any other.
Drawing draw_sinusoids(const ModelConfig& config, const SinusoidOptions& options);

}  // namespace headscope
