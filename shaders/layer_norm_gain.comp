// grad_gain = the sum over rows of grad_y (sum - mean) rstd, grad_bias = that of grad_y; RMS norm's mean is 0. Each
// invocation has four columns of a part of the rows, in order.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "params.h"
HEADSCOPE_KERNEL(LayerNormGainParams, LAYER_NORM_GAIN_BINDINGS, LAYER_NORM_GAIN_CONSTANTS)
#include "fours.glsl"
#include "grid.glsl"
#include "storage.glsl"
layout(constant_id = constant_has_mean) const bool kHasMean = true;  // else RMS norm
layout(constant_id = constant_has_bias) const bool kHasBias = true;
HEADSCOPE_READ_FOURS(binding_sum, sums)
layout(set = 0, binding = binding_mean) readonly buffer Mean { float means[]; };
layout(set = 0, binding = binding_rstd) readonly buffer Rstd { float rstds[]; };
HEADSCOPE_READ_FOURS(binding_grad_y, grad_y)
HEADSCOPE_WRITE_FLOATS(binding_grad_gain, grad_gain)
HEADSCOPE_WRITE_FLOATS(binding_grad_bias, grad_bias)

void main() {
    uint fours = (p.columns + 3u) / 4u;
    uint part = element_index() / fours;
    if (part >= p.parts) {
        return;
    }
    uint column = 4u * (element_index() - part * fours);
    uint count = p.columns - column;
    uint first = part * p.rows_per_part;
    uint last = min(first + p.rows_per_part, p.rows);
    vec4 gain = vec4(0.0);
    vec4 bias = vec4(0.0);
    for (uint row = first; row < last; ++row) {
        uint at = row * p.columns + column;
        vec4 grad = grad_y_at(p.offset[binding_grad_y] + at, count);
        float mean = kHasMean ? means[p.offset[binding_mean] + row] : 0.0;
        gain += grad * (sums_at(p.offset[binding_sum] + at, count) - mean) * rstds[p.offset[binding_rstd] + row];
        bias += grad;
    }
    uint to = part * p.columns + column;
    if (p.accumulate_gain != 0u) {
        gain += grad_gain_at(p.offset[binding_grad_gain] + to, count);
    }
    grad_gain_put(p.offset[binding_grad_gain] + to, count, gain);
    if (kHasBias) {
        if (p.accumulate_bias != 0u) {
            bias += grad_bias_at(p.offset[binding_grad_bias] + to, count);
        }
        grad_bias_put(p.offset[binding_grad_bias] + to, count, bias);
    }
}
