// y = gain (x - mean) rstd + bias, by columns; one workgroup for four of them. With kMeasures mean and variance are those
// of the rows that are no padding, and the running ones move towards them.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "params.h"
HEADSCOPE_KERNEL(BatchNormParams, BATCH_NORM_BINDINGS, BATCH_NORM_CONSTANTS)
#include "fours.glsl"
#include "grid.glsl"
#include "reduce.glsl"
#include "storage.glsl"
#include "columns.glsl"
HEADSCOPE_READ_FOURS(binding_x, x)
HEADSCOPE_READ_FLOATS(binding_gain, gains)
HEADSCOPE_READ_FLOATS(binding_bias, biases)
HEADSCOPE_WRITE_FLOATS(binding_running_mean, running_mean)
HEADSCOPE_WRITE_FLOATS(binding_running_variance, running_variance)
HEADSCOPE_WRITE_FOURS(binding_y, y)
HEADSCOPE_WRITE_FLOATS(binding_mean, means)
HEADSCOPE_WRITE_FLOATS(binding_rstd, rstds)

void main() {
    uint column = 4u * group_index();
    uint count = p.columns - column;
    vec4 running = running_mean_at(p.offset[binding_running_mean] + column, count);
    vec4 running_square = running_variance_at(p.offset[binding_running_variance] + column, count);
    vec4 mean = running;
    vec4 variance = running_square;
    if (kMeasures) {
        float rows = measured_rows();
        vec4 sum = vec4(0.0);
        for (uint row = lane(); row < p.rows; row += lanes()) {
            if (is_measured(row)) {
                sum += x_at(p.offset[binding_x] + row * p.columns + column, count);
            }
        }
        mean = group_sum_of_fours(sum) / max(rows, 1.0);
        vec4 squares = vec4(0.0);
        for (uint row = lane(); row < p.rows; row += lanes()) {
            if (is_measured(row)) {
                vec4 apart = x_at(p.offset[binding_x] + row * p.columns + column, count) - mean;
                squares += apart * apart;
            }
        }
        squares = group_sum_of_fours(squares);
        variance = squares / max(rows, 1.0);
        if (lane() == 0u && rows > 1.0) {
            running_mean_put(p.offset[binding_running_mean] + column, count, running + p.momentum * (mean - running));
            running_variance_put(p.offset[binding_running_variance] + column, count,
                                 running_square + p.momentum * (squares / (rows - 1.0) - running_square));
        }
    }
    vec4 rstd = 1.0 / sqrt(variance + p.epsilon);
    if (lane() == 0u) {
        means_put(p.offset[binding_mean] + column, count, mean);
        rstds_put(p.offset[binding_rstd] + column, count, rstd);
    }
    vec4 gain = gains_at(p.offset[binding_gain] + column, count);
    vec4 bias = biases_at(p.offset[binding_bias] + column, count);
    for (uint row = lane(); row < p.rows; row += lanes()) {
        uint at = row * p.columns + column;
        y_put(p.offset[binding_y] + at, count, gain * (x_at(p.offset[binding_x] + at, count) - mean) * rstd + bias);
    }
}
