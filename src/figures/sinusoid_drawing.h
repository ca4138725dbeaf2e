// Draws the positional encoding of Section 3.5: positions from top to bottom, dimensions from left to right.
#pragma once

#include "model/config.h"
#include "paint/sketch.h"

namespace headscope {

struct SinusoidOptions {
    int positions = 64;
    int columns = 128;  // maximum number of dimensions, evenly spaced in pairs of sine and cosine
    double cell = 0.5;
    Look look = {};
};
// Error for a model with learned positions.
Drawing draw_sinusoids(const ModelConfig& config, const SinusoidOptions& options);

}  // namespace headscope
