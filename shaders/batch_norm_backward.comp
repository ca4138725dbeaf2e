// grad_bias and grad_gain are the sums of grad_y and of grad_y n over all rows, with n = (x - mean) rstd; grad_x is
// gain rstd (grad_y - (grad_bias + n grad_gain) / rows) where rows are measured, else without the second term. One
// workgroup for four columns.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "params.h"
HEADSCOPE_KERNEL(BatchNormBackwardParams, BATCH_NORM_BACKWARD_BINDINGS, BATCH_NORM_BACKWARD_CONSTANTS)
#include "fours.glsl"
#include "grid.glsl"
#include "reduce.glsl"
#include "storage.glsl"
#include "columns.glsl"
layout(constant_id = constant_has_grad_x) const bool kHasGradX = true;
HEADSCOPE_READ_FOURS(binding_x, x)
HEADSCOPE_READ_FLOATS(binding_gain, gains)
HEADSCOPE_READ_FLOATS(binding_mean, means)
HEADSCOPE_READ_FLOATS(binding_rstd, rstds)
HEADSCOPE_READ_FOURS(binding_grad_y, grad_y)
HEADSCOPE_WRITE_FOURS(binding_grad_x, grad_x)
HEADSCOPE_WRITE_FLOATS(binding_grad_gain, grad_gain)
HEADSCOPE_WRITE_FLOATS(binding_grad_bias, grad_bias)

void main() {
    uint column = 4u * group_index();
    uint count = p.columns - column;
    vec4 mean = means_at(p.offset[binding_mean] + column, count);
    vec4 rstd = rstds_at(p.offset[binding_rstd] + column, count);
    vec4 gain = vec4(0.0);
    vec4 bias = vec4(0.0);
    for (uint row = lane(); row < p.rows; row += lanes()) {
        uint at = row * p.columns + column;
        vec4 grad = grad_y_at(p.offset[binding_grad_y] + at, count);
        gain += grad * (x_at(p.offset[binding_x] + at, count) - mean) * rstd;
        bias += grad;
    }
    gain = group_sum_of_fours(gain);
    bias = group_sum_of_fours(bias);
    if (kHasGradX) {
        float rows = kMeasures ? max(measured_rows(), 1.0) : 1.0;
        vec4 scale = gains_at(p.offset[binding_gain] + column, count) * rstd;
        for (uint row = lane(); row < p.rows; row += lanes()) {
            uint at = row * p.columns + column;
            vec4 grad = grad_y_at(p.offset[binding_grad_y] + at, count);
            if (is_measured(row)) {
                grad -= (bias + (x_at(p.offset[binding_x] + at, count) - mean) * rstd * gain) / rows;
            }
            grad *= scale;
            if (p.accumulate_x != 0u) {
                grad += grad_x_at(p.offset[binding_grad_x] + at, count);
            }
            grad_x_put(p.offset[binding_grad_x] + at, count, grad);
        }
    }
    if (lane() == 0u) {
        uint to_gain = p.offset[binding_grad_gain] + column;
        uint to_bias = p.offset[binding_grad_bias] + column;
        grad_gain_put(to_gain, count, p.accumulate_gain != 0u ? grad_gain_at(to_gain, count) + gain : gain);
        grad_bias_put(to_bias, count, p.accumulate_bias != 0u ? grad_bias_at(to_bias, count) + bias : bias);
    }
}
