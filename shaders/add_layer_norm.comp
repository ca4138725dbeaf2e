// sum = residual + Dropout(x); y = gain (sum - mean) rstd + bias. One workgroup a row; an invocation meets the same
// columns in every pass, eight at a time, so that it reads back what it wrote itself.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "params.h"
layout(push_constant) uniform Push { AddLayerNormParams p; };
#include "dropout.glsl"
#include "fours.glsl"
#include "grid.glsl"
#include "reduce.glsl"
#include "storage.glsl"
layout(constant_id = 3) const bool kDrops = false;  // a CPU's Vulkan takes both ways of a branch
HEADSCOPE_READ_FOURS(0, x)
HEADSCOPE_READ_FOURS(1, residual)
HEADSCOPE_READ_FLOATS(2, gain)
HEADSCOPE_READ_FLOATS(3, bias)
layout(set = 0, binding = 4) readonly buffer Step { uint steps[]; };
layout(set = 0, binding = 5) readonly buffer Ordinals { uint ordinals[]; };
HEADSCOPE_WRITE_FOURS(6, sums)
HEADSCOPE_WRITE_FOURS(7, y)
layout(set = 0, binding = 8) writeonly buffer Mean { float means[]; };
layout(set = 0, binding = 9) writeonly buffer Rstd { float rstds[]; };

// residual + Dropout(x) of the row's columns [column, column + 4), 0 past the row.
vec4 summed(uint row_start, uint column, uvec4 words) {
    uint count = p.columns - column;
    vec4 value = x_at(p.offset[0] + row_start + column, count);
    if (kDrops) {
        value = dropout_apply(p.dropout, words, column, value);
    }
    return p.has_residual != 0u ? value + residual_at(p.offset[1] + row_start + column, count) : value;
}

// The statistics are those of the sums as they are, not as 16 bits would hold them: these are added anew in each pass,
// and stored in the last, since they may take the place of what is added.
#ifdef HEADSCOPE_16_BITS
const bool kAddsAnew = true;
#else
const bool kAddsAnew = false;
#endif

vec4 sum_at(uint row_start, uint column, DropoutRow drop) {
    if (kAddsAnew) {
        return summed(row_start, column, kDrops ? dropout_words(p.dropout, drop, column / 8u) : uvec4(0u));
    }
    return sums_at(p.offset[6] + row_start + column, p.columns - column);
}

void main() {
    uint row_start = group_index() * p.columns;
    DropoutRow drop = DropoutRow(0u, 0u, 0u);
    if (kDrops) {
        uint row = p.first_row + group_index();
        uint batch = row / p.sequence;
        drop = DropoutRow(row - batch * p.sequence, ordinals[p.offset[5] + batch], steps[p.offset[4]]);
    }
    float total = 0.0;
    for (uint first = 8u * lane(); first < p.columns; first += 8u * lanes()) {
        uvec4 words = kDrops ? dropout_words(p.dropout, drop, first / 8u) : uvec4(0u);
        for (uint column = first; column < min(first + 8u, p.columns); column += 4u) {
            vec4 value = summed(row_start, column, words);
            if (!kAddsAnew) {
                sums_put(p.offset[6] + row_start + column, p.columns - column, value);
            }
            total += sum_of_four(value);
        }
    }
    float mean = group_sum(total) / float(p.columns);
    float squares = 0.0;
    for (uint first = 8u * lane(); first < p.columns; first += 8u * lanes()) {
        for (uint column = first; column < min(first + 8u, p.columns); column += 4u) {
            uint count = p.columns - column;
            vec4 centred = first_of_four(sum_at(row_start, column, drop) - mean, count);
            squares += sum_of_four(centred * centred);
        }
    }
    float rstd = 1.0 / sqrt(group_sum(squares) / float(p.columns) + p.epsilon);
    for (uint first = 8u * lane(); first < p.columns; first += 8u * lanes()) {
        for (uint column = first; column < min(first + 8u, p.columns); column += 4u) {
            uint count = p.columns - column;
            vec4 value = sum_at(row_start, column, drop);
            if (kAddsAnew) {
                sums_put(p.offset[6] + row_start + column, count, value);
            }
            vec4 normal = (value - mean) * rstd;
            y_put(p.offset[7] + row_start + column, count,
                  gain_at(p.offset[2] + column, count) * normal + bias_at(p.offset[3] + column, count));
        }
    }
    if (lane() == 0u) {
        means[p.offset[8] + group_index()] = mean;
        rstds[p.offset[9] + group_index()] = rstd;
    }
}
