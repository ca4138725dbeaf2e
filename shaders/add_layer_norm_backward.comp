// With n = (sum - mean) rstd and g = gain grad_y (mean and average(g) are 0 for RMS norm):
//   grad_sum = rstd (g - average(g) - n average(g n)) + grad_sum_out, grad_residual = grad_sum, grad_x = Dropout(it).
// One workgroup a row; or a part of the rows, of which it also sums the columns: grad_y n for the gain, grad_y for the bias.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "params.h"
HEADSCOPE_KERNEL(AddLayerNormBackwardParams, ADD_LAYER_NORM_BACKWARD_BINDINGS, ADD_LAYER_NORM_BACKWARD_CONSTANTS)
#include "dropout.glsl"
#include "fours.glsl"
#include "grid.glsl"
#include "reduce.glsl"
#include "storage.glsl"
// Constants, since software devices execute both sides of a branch.
layout(constant_id = constant_drops) const bool kDrops = false;
layout(constant_id = constant_held) const uint kHeld = 0u;  // vec4s of a row kept: all of an invocation's, or none
layout(constant_id = constant_has) const uint kHas = 0u;   // bits: which operands exist, and which are accumulated
const bool kHasGradY = (kHas & 1u) != 0u;
const bool kHasGradSumOut = (kHas & 2u) != 0u;
const bool kHasGradX = (kHas & 4u) != 0u;
const bool kHasGradResidual = (kHas & 8u) != 0u;
const bool kAccumulatesX = (kHas & 16u) != 0u;
const bool kAccumulatesResidual = (kHas & 32u) != 0u;
const bool kHasMean = (kHas & 64u) != 0u;  // else RMS norm
const bool kSumsGain = (kHas & 128u) != 0u;  // of rows that are kept, as the next
const bool kSumsBias = (kHas & 256u) != 0u;
HEADSCOPE_READ_FOURS(binding_sum, sums)
HEADSCOPE_READ_FLOATS(binding_gain, gain)
layout(set = 0, binding = binding_mean) readonly buffer Mean { float means[]; };
layout(set = 0, binding = binding_rstd) readonly buffer Rstd { float rstds[]; };
HEADSCOPE_READ_FOURS(binding_grad_y, grad_y)
HEADSCOPE_READ_FOURS(binding_grad_sum_out, grad_sum_out)
layout(set = 0, binding = binding_step) readonly buffer Step { uint steps[]; };
layout(set = 0, binding = binding_ordinals) readonly buffer Ordinals { uint ordinals[]; };
HEADSCOPE_WRITE_FOURS(binding_grad_x, grad_x)
HEADSCOPE_WRITE_FOURS(binding_grad_residual, grad_residual)
HEADSCOPE_WRITE_FLOATS(binding_gain_parts, gain_parts)
HEADSCOPE_WRITE_FLOATS(binding_bias_parts, bias_parts)

// An invocation's columns of the part's sums; at least one.
vec4 gain_sums[kSumsGain ? kHeld + 1u : 1u];
vec4 bias_sums[kSumsBias ? kHeld + 1u : 1u];

// grad_y of the row's columns [column, column + 4), 0 past the row.
vec4 arriving(uint row_start, uint column) {
    return kHasGradY ? grad_y_at(p.offset[binding_grad_y] + row_start + column, p.columns - column) : vec4(0.0);
}

vec4 gained(uint column, vec4 grad) {
    return kHasGradY ? gain_at(p.offset[binding_gain] + column, p.columns - column) * grad : grad;
}

vec4 normal_at(uint row_start, uint column, float mean, float rstd) {
    return (sums_at(p.offset[binding_sum] + row_start + column, p.columns - column) - mean) * rstd;
}

void store_residual(uint index, uint count, vec4 grad) {
    if (!kHasGradResidual) {
        return;
    }
    if (kAccumulatesResidual) {
        grad += grad_residual_at(p.offset[binding_grad_residual] + index, count);
    }
    grad_residual_put(p.offset[binding_grad_residual] + index, count, grad);
}

void store_x(uint index, uint count, vec4 grad) {
    if (kAccumulatesX) {
        grad += grad_x_at(p.offset[binding_grad_x] + index, count);
    }
    grad_x_put(p.offset[binding_grad_x] + index, count, grad);
}

DropoutRow drop_row(uint row) {
    if (!kDrops) {
        return DropoutRow(0u, 0u, 0u);
    }
    row += p.first_row;
    uint batch = row / p.sequence;
    return DropoutRow(row - batch * p.sequence, ordinals[p.offset[binding_ordinals] + batch],
                      steps[p.offset[binding_step]]);
}

// `words` are dropout's; g and normal are those of the columns [column, column + 4), averages those of g and of g
// normal.
void store(uint index, uint column, uvec4 words, vec4 g, vec4 normal, vec2 averages, float rstd) {
    uint count = p.columns - column;
    vec4 grad = rstd * (g - averages.x - normal * averages.y);
    if (kHasGradSumOut) {
        grad += grad_sum_out_at(p.offset[binding_grad_sum_out] + index, count);
    }
    store_residual(index, count, grad);
    if (kHasGradX) {
        store_x(index, count, kDrops ? dropout_apply(p.dropout, words, column, grad) : grad);
    }
}

vec2 averages_of(float sum_g, float sum_gn) {
    float average_g = kHasMean ? group_sum(sum_g) / float(p.columns) : 0.0;
    return vec2(average_g, group_sum(sum_gn) / float(p.columns));
}

void hold_row(uint row_start, DropoutRow drop, float mean, float rstd) {
    vec4 g[kHeld + 1u];  // at least one
    vec4 normal[kHeld + 1u];
    float sum_g = 0.0;
    float sum_gn = 0.0;
    [[unroll]] for (uint i = 0u; i < kHeld; ++i) {
        vec4 grad = arriving(row_start, held_column(i));
        g[i] = gained(held_column(i), grad);
        normal[i] = normal_at(row_start, held_column(i), mean, rstd);
        if (kSumsGain) {
            gain_sums[i] += grad * normal[i];
        }
        if (kSumsBias) {
            bias_sums[i] += grad;
        }
        sum_g += sum_of_four(g[i]);
        sum_gn += sum_of_four(g[i] * normal[i]);
    }
    vec2 averages = averages_of(sum_g, sum_gn);
    uvec4 words = uvec4(0u);
    [[unroll]] for (uint i = 0u; i < kHeld; ++i) {
        uint column = held_column(i);
        if (kDrops && i % 2u == 0u) {
            words = dropout_words(p.dropout, drop, column / 8u);
        }
        store(row_start + column, column, words, g[i], normal[i], averages, rstd);
    }
}

void walk_row(uint row_start, DropoutRow drop, float mean, float rstd) {
    float sum_g = 0.0;
    float sum_gn = 0.0;
    for (uint column = 4u * lane(); kHasGradY && column < p.columns; column += 4u * lanes()) {
        vec4 g = gained(column, arriving(row_start, column));
        sum_g += sum_of_four(g);
        sum_gn += sum_of_four(of_row(g * normal_at(row_start, column, mean, rstd), p.columns - column));
    }
    vec2 averages = averages_of(sum_g, sum_gn);
    for (uint first = 8u * lane(); first < p.columns; first += 8u * lanes()) {
        uvec4 words = kDrops ? dropout_words(p.dropout, drop, first / 8u) : uvec4(0u);
        for (uint column = first; column < min(first + 8u, p.columns); column += 4u) {
            store(row_start + column, column, words, gained(column, arriving(row_start, column)),
                  normal_at(row_start, column, mean, rstd), averages, rstd);
        }
    }
}

void backward_of(uint row) {
    uint row_start = row * p.columns;
    float mean = kHasMean ? means[p.offset[binding_mean] + row] : 0.0;
    float rstd = rstds[p.offset[binding_rstd] + row];
    if (kHeld != 0u) {
        hold_row(row_start, drop_row(row), mean, rstd);
    } else {
        walk_row(row_start, drop_row(row), mean, rstd);
    }
}

void main() {
    if (!kSumsGain) {
        backward_of(group_index());
        return;
    }
    [[unroll]] for (uint i = 0u; i < kHeld; ++i) {
        gain_sums[i] = vec4(0.0);
        if (kSumsBias) {
            bias_sums[i] = vec4(0.0);
        }
    }
    uint first = group_index() * p.rows_per_part;
    uint last = min(first + p.rows_per_part, p.rows);
    for (uint row = first; row < last; ++row) {
        backward_of(row);
    }
    [[unroll]] for (uint i = 0u; i < kHeld; ++i) {
        uint at = group_index() * p.columns + held_column(i);
        gain_parts_put(p.offset[binding_gain_parts] + at, 4u, gain_sums[i]);
        if (kSumsBias) {
            bias_parts_put(p.offset[binding_bias_parts] + at, 4u, bias_sums[i]);
        }
    }
}
