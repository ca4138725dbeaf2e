// sum = residual + Dropout(x); y = gain (sum - mean) rstd + bias; RMS norm's mean is 0. One workgroup for each row; an
// invocation has the same columns in every pass, eight at a time: it keeps their sums, or reads back what it wrote
// itself.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "params.h"
HEADSCOPE_KERNEL(AddLayerNormParams, ADD_LAYER_NORM_BINDINGS, ADD_LAYER_NORM_CONSTANTS)
#include "dropout.glsl"
#include "fours.glsl"
#include "grid.glsl"
#include "reduce.glsl"
#include "storage.glsl"
// Constants, since software devices execute both sides of a branch.
layout(constant_id = constant_drops) const bool kDrops = false;
layout(constant_id = constant_held) const uint kHeld = 0u;  // vec4s of a row kept: all of an invocation's, or none
layout(constant_id = constant_has) const uint kHas = 0u;   // bits: which operands exist
const bool kHasResidual = (kHas & 1u) != 0u;
const bool kHasBias = (kHas & 2u) != 0u;
const bool kHasMean = (kHas & 4u) != 0u;  // else RMS norm
HEADSCOPE_READ_FOURS(binding_x, x)
HEADSCOPE_READ_FOURS(binding_residual, residual)
HEADSCOPE_READ_FLOATS(binding_gain, gain)
HEADSCOPE_READ_FLOATS(binding_bias, bias)
layout(set = 0, binding = binding_step) readonly buffer Step { uint steps[]; };
layout(set = 0, binding = binding_ordinals) readonly buffer Ordinals { uint ordinals[]; };
HEADSCOPE_WRITE_FOURS(binding_sum, sums)
HEADSCOPE_WRITE_FOURS(binding_y, y)
layout(set = 0, binding = binding_mean) writeonly buffer Mean { float means[]; };
layout(set = 0, binding = binding_rstd) writeonly buffer Rstd { float rstds[]; };

// residual + Dropout(x) of the row's columns [column, column + 4), 0 past the row. Stored after its last use: sums may
// alias x or residual, which a compiler that assumes read-only memory may load again.
vec4 summed(uint row_start, uint column, uvec4 words) {
    uint count = p.columns - column;
    vec4 value = x_at(p.offset[binding_x] + row_start + column, count);
    if (kDrops) {
        value = dropout_apply(p.dropout, words, column, value);
    }
    return kHasResidual ? value + residual_at(p.offset[binding_residual] + row_start + column, count) : value;
}

// The statistics are those of the unrounded sums, not of their 16-bit values: a row that is not kept is added again in
// each pass and stored in the last, since the sums may replace their inputs.
#ifdef HEADSCOPE_16_BITS
const bool kAddsAnew = true;
#else
const bool kAddsAnew = false;
#endif

vec4 sum_at(uint row_start, uint column, DropoutRow drop) {
    if (kAddsAnew) {
        return summed(row_start, column, kDrops ? dropout_words(p.dropout, drop, column / 8u) : uvec4(0u));
    }
    return sums_at(p.offset[binding_sum] + row_start + column, p.columns - column);
}

vec4 normalised(uint column, vec4 sum, float mean, float rstd) {
    uint count = p.columns - column;
    vec4 y = gain_at(p.offset[binding_gain] + column, count) * ((sum - mean) * rstd);
    return kHasBias ? y + bias_at(p.offset[binding_bias] + column, count) : y;
}

DropoutRow drop_row() {
    if (!kDrops) {
        return DropoutRow(0u, 0u, 0u);
    }
    uint row = p.first_row + group_index();
    uint batch = row / p.sequence;
    return DropoutRow(row - batch * p.sequence, ordinals[p.offset[binding_ordinals] + batch],
                      steps[p.offset[binding_step]]);
}

void put_moments(float mean, float rstd) {
    if (lane() == 0u) {
        if (kHasMean) {
            means[p.offset[binding_mean] + group_index()] = mean;
        }
        rstds[p.offset[binding_rstd] + group_index()] = rstd;
    }
}

float average(float part) { return group_sum(part) / float(p.columns); }
float mean_of(float total) { return kHasMean ? average(total) : 0.0; }
float rstd_of(float squares) { return 1.0 / sqrt(average(squares) + p.epsilon); }

void hold_row() {
    uint row_start = group_index() * p.columns;
    DropoutRow drop = drop_row();
    vec4 held[kHeld + 1u];  // at least one
    uvec4 words = uvec4(0u);
    float total = 0.0;
    [[unroll]] for (uint i = 0u; i < kHeld; ++i) {
        uint column = held_column(i);
        if (kDrops && i % 2u == 0u) {
            words = dropout_words(p.dropout, drop, column / 8u);
        }
        held[i] = summed(row_start, column, words);
        total += sum_of_four(held[i]);
    }
    float mean = mean_of(total);
    float squares = 0.0;
    [[unroll]] for (uint i = 0u; i < kHeld; ++i) {
        vec4 centred = held[i] - mean;
        squares += sum_of_four(centred * centred);
    }
    float rstd = rstd_of(squares);
    [[unroll]] for (uint i = 0u; i < kHeld; ++i) {
        uint column = held_column(i);
        y_put(p.offset[binding_y] + row_start + column, 4u, normalised(column, held[i], mean, rstd));
        sums_put(p.offset[binding_sum] + row_start + column, 4u, held[i]);
    }
    put_moments(mean, rstd);
}

void walk_row() {
    uint row_start = group_index() * p.columns;
    DropoutRow drop = drop_row();
    float total = 0.0;
    for (uint first = 8u * lane(); first < p.columns; first += 8u * lanes()) {
        uvec4 words = kDrops ? dropout_words(p.dropout, drop, first / 8u) : uvec4(0u);
        for (uint column = first; column < min(first + 8u, p.columns); column += 4u) {
            vec4 value = summed(row_start, column, words);
            total += sum_of_four(value);
            if (!kAddsAnew) {
                sums_put(p.offset[binding_sum] + row_start + column, p.columns - column, value);
            }
        }
    }
    float mean = mean_of(total);
    float squares = 0.0;
    for (uint first = 8u * lane(); first < p.columns; first += 8u * lanes()) {
        for (uint column = first; column < min(first + 8u, p.columns); column += 4u) {
            uint count = p.columns - column;
            vec4 centred = first_of_four(sum_at(row_start, column, drop) - mean, count);
            squares += sum_of_four(centred * centred);
        }
    }
    float rstd = rstd_of(squares);
    for (uint first = 8u * lane(); first < p.columns; first += 8u * lanes()) {
        for (uint column = first; column < min(first + 8u, p.columns); column += 4u) {
            uint count = p.columns - column;
            vec4 sum = sum_at(row_start, column, drop);
            y_put(p.offset[binding_y] + row_start + column, count, normalised(column, sum, mean, rstd));
            if (kAddsAnew) {
                sums_put(p.offset[binding_sum] + row_start + column, count, sum);
            }
        }
    }
    put_moments(mean, rstd);
}

void main() {
    if (kHeld != 0u) {
        hold_row();
    } else {
        walk_row();
    }
}
