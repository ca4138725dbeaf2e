// grad_gain = the sum over rows of grad_y (sum - mean) rstd, grad_bias = that of grad_y; one invocation a column of a
// part of the rows, rows in order.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "params.h"
layout(push_constant) uniform Push { LayerNormGainParams p; };
#include "grid.glsl"
layout(set = 0, binding = 0) readonly buffer Sum { float sums[]; };
layout(set = 0, binding = 1) readonly buffer Mean { float means[]; };
layout(set = 0, binding = 2) readonly buffer Rstd { float rstds[]; };
layout(set = 0, binding = 3) readonly buffer GradY { float grad_y[]; };
layout(set = 0, binding = 4) buffer GradGain { float grad_gain[]; };
layout(set = 0, binding = 5) buffer GradBias { float grad_bias[]; };

void main() {
    uint index = element_index();
    uint part = index / p.columns;
    if (part >= p.parts) {
        return;
    }
    uint column = index - part * p.columns;
    uint first = part * p.rows_per_part;
    uint last = min(first + p.rows_per_part, p.rows);
    float gain = 0.0;
    float bias = 0.0;
    for (uint row = first; row < last; ++row) {
        uint at = row * p.columns + column;
        float grad = grad_y[p.offset[3] + at];
        gain += grad * (sums[p.offset[0] + at] - means[p.offset[1] + row]) * rstds[p.offset[2] + row];
        bias += grad;
    }
    uint gain_at = p.offset[4] + index;
    uint bias_at = p.offset[5] + index;
    grad_gain[gain_at] = p.accumulate_gain != 0u ? grad_gain[gain_at] + gain : gain;
    grad_bias[bias_at] = p.accumulate_bias != 0u ? grad_bias[bias_at] + bias : bias;
}
