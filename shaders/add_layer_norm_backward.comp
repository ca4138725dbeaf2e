// With n = (sum - mean) rstd and g = gain grad_y:
//   grad_sum = rstd (g - average(g) - n average(g n)) + grad_sum_out, grad_residual = grad_sum, grad_x = Dropout(it).
// One workgroup a row.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "params.h"
layout(push_constant) uniform Push { AddLayerNormBackwardParams p; };
#include "dropout.glsl"
#include "fours.glsl"
#include "grid.glsl"
#include "reduce.glsl"
#include "storage.glsl"
layout(constant_id = 3) const bool kDrops = false;  // a CPU's Vulkan takes both ways of a branch
HEADSCOPE_READ_FOURS(0, sums)
HEADSCOPE_READ_FLOATS(1, gain)
layout(set = 0, binding = 2) readonly buffer Mean { float means[]; };
layout(set = 0, binding = 3) readonly buffer Rstd { float rstds[]; };
HEADSCOPE_READ_FOURS(4, grad_y)
HEADSCOPE_READ_FOURS(5, grad_sum_out)
layout(set = 0, binding = 6) readonly buffer Step { uint steps[]; };
layout(set = 0, binding = 7) readonly buffer Ordinals { uint ordinals[]; };
HEADSCOPE_WRITE_FOURS(8, grad_x)
HEADSCOPE_WRITE_FOURS(9, grad_residual)

// gain grad_y of the row's columns [column, column + 4), 0 past the row.
vec4 gained(uint row_start, uint column) {
    uint count = p.columns - column;
    return p.has_grad_y != 0u
               ? gain_at(p.offset[1] + column, count) * grad_y_at(p.offset[4] + row_start + column, count)
               : vec4(0.0);
}

vec4 normal_at(uint row_start, uint column, float mean, float rstd) {
    return (sums_at(p.offset[0] + row_start + column, p.columns - column) - mean) * rstd;
}

void store_residual(uint index, uint count, vec4 grad) {
    if (p.has_grad_residual == 0u) {
        return;
    }
    if (p.accumulate_residual != 0u) {
        grad += grad_residual_at(p.offset[9] + index, count);
    }
    grad_residual_put(p.offset[9] + index, count, grad);
}

void store_x(uint index, uint count, vec4 grad) {
    if (p.accumulate_x != 0u) {
        grad += grad_x_at(p.offset[8] + index, count);
    }
    grad_x_put(p.offset[8] + index, count, grad);
}

void main() {
    uint row_start = group_index() * p.columns;
    DropoutRow drop = DropoutRow(0u, 0u, 0u);
    if (kDrops) {
        uint row = p.first_row + group_index();
        uint batch = row / p.sequence;
        drop = DropoutRow(row - batch * p.sequence, ordinals[p.offset[7] + batch], steps[p.offset[6]]);
    }
    float mean = means[p.offset[2] + group_index()];
    float rstd = rstds[p.offset[3] + group_index()];
    float sum_g = 0.0;
    float sum_gn = 0.0;
    for (uint column = 4u * lane(); p.has_grad_y != 0u && column < p.columns; column += 4u * lanes()) {
        vec4 g = gained(row_start, column);
        sum_g += sum_of_four(g);
        vec4 terms = first_of_four(g * normal_at(row_start, column, mean, rstd), p.columns - column);
        sum_gn += sum_of_four(terms);
    }
    float average_g = group_sum(sum_g) / float(p.columns);
    float average_gn = group_sum(sum_gn) / float(p.columns);
    for (uint first = 8u * lane(); first < p.columns; first += 8u * lanes()) {
        uvec4 words = kDrops ? dropout_words(p.dropout, drop, first / 8u) : uvec4(0u);
        for (uint column = first; column < min(first + 8u, p.columns); column += 4u) {
            uint index = row_start + column;
            uint count = p.columns - column;
            vec4 normal = normal_at(row_start, column, mean, rstd);
            vec4 grad = rstd * (gained(row_start, column) - average_g - normal * average_gn);
            if (p.has_grad_sum_out != 0u) {
                grad += grad_sum_out_at(p.offset[5] + index, count);
            }
            store_residual(index, count, grad);
            if (p.has_grad_x != 0u) {
                store_x(index, count, kDrops ? dropout_apply(p.dropout, words, column, grad) : grad);
            }
        }
    }
}
