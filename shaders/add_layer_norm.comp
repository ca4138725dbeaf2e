// sum = residual + Dropout(x); y = gain (sum - mean) rstd + bias. One workgroup a row; an invocation meets the same
// columns in every pass, so that it reads back what it wrote itself.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "params.h"
layout(push_constant) uniform Push { AddLayerNormParams p; };
#include "dropout.glsl"
#include "grid.glsl"
#include "reduce.glsl"
layout(set = 0, binding = 0) readonly buffer X { float x[]; };
layout(set = 0, binding = 1) readonly buffer Residual { float residual[]; };
layout(set = 0, binding = 2) readonly buffer Gain { float gain[]; };
layout(set = 0, binding = 3) readonly buffer Bias { float bias[]; };
layout(set = 0, binding = 4) readonly buffer Step { uint steps[]; };
layout(set = 0, binding = 5) readonly buffer Ordinals { uint ordinals[]; };
layout(set = 0, binding = 6) buffer Sum { float sums[]; };
layout(set = 0, binding = 7) writeonly buffer Y { float y[]; };
layout(set = 0, binding = 8) writeonly buffer Mean { float means[]; };
layout(set = 0, binding = 9) writeonly buffer Rstd { float rstds[]; };

void main() {
    uint row_start = group_index() * p.columns;
    bool drops = p.dropout.threshold != 0u;
    uint width = drops ? 8u : 1u;
    DropoutRow drop = DropoutRow(0u, 0u, 0u);
    if (drops) {
        uint row = p.first_row + group_index();
        uint batch = row / p.sequence;
        drop = DropoutRow(row - batch * p.sequence, ordinals[p.offset[5] + batch], steps[p.offset[4]]);
    }
    float total = 0.0;
    for (uint first = lane() * width; first < p.columns; first += lanes() * width) {
        uvec4 words = drops ? dropout_words(p.dropout, drop, first / 8u) : uvec4(0u);
        uint last = min(first + width, p.columns);
        for (uint column = first; column < last; ++column) {
            float value = x[p.offset[0] + row_start + column];
            value = drops ? dropout_apply(p.dropout, words, column, value) : value;
            value += p.has_residual != 0u ? residual[p.offset[1] + row_start + column] : 0.0;
            sums[p.offset[6] + row_start + column] = value;
            total += value;
        }
    }
    float mean = group_sum(total) / float(p.columns);
    float squares = 0.0;
    for (uint first = lane() * width; first < p.columns; first += lanes() * width) {
        uint last = min(first + width, p.columns);
        for (uint column = first; column < last; ++column) {
            float centred = sums[p.offset[6] + row_start + column] - mean;
            squares += centred * centred;
        }
    }
    float rstd = 1.0 / sqrt(group_sum(squares) / float(p.columns) + p.epsilon);
    for (uint first = lane() * width; first < p.columns; first += lanes() * width) {
        uint last = min(first + width, p.columns);
        for (uint column = first; column < last; ++column) {
            float normal = (sums[p.offset[6] + row_start + column] - mean) * rstd;
            y[p.offset[7] + row_start + column] = gain[p.offset[2] + column] * normal + bias[p.offset[3] + column];
        }
    }
    if (lane() == 0u) {
        means[p.offset[8] + group_index()] = mean;
        rstds[p.offset[9] + group_index()] = rstd;
    }
}
