// grad_x = f'(x + bias) * Dropout(grad_y); one workgroup a row.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "params.h"
layout(push_constant) uniform Push { BiasActivationBackwardParams p; };
#include "activation.glsl"
#include "dropout.glsl"
#include "grid.glsl"
layout(set = 0, binding = 0) readonly buffer X { float x[]; };
layout(set = 0, binding = 1) readonly buffer Bias { float bias[]; };
layout(set = 0, binding = 2) readonly buffer GradY { float grad_y[]; };
layout(set = 0, binding = 3) readonly buffer Step { uint steps[]; };
layout(set = 0, binding = 4) readonly buffer Ordinals { uint ordinals[]; };
layout(set = 0, binding = 5) buffer GradX { float grad_x[]; };

void store(uint index, uint column, float grad) {
    float value = x[p.offset[0] + index];
    value = p.has_bias != 0u ? value + bias[p.offset[1] + column] : value;
    float result = activate_backward(p.activation, value) * grad;
    uint target = p.offset[5] + index;
    grad_x[target] = p.accumulate != 0u ? grad_x[target] + result : result;
}

void main() {
    uint row_start = group_index() * p.columns;
    if (p.dropout.threshold == 0u) {
        for (uint column = lane(); column < p.columns; column += lanes()) {
            store(row_start + column, column, grad_y[p.offset[2] + row_start + column]);
        }
        return;
    }
    uint row = p.first_row + group_index();
    uint batch = row / p.sequence;
    DropoutRow drop = DropoutRow(row - batch * p.sequence, ordinals[p.offset[4] + batch], steps[p.offset[3]]);
    for (uint block = lane(); block * 8u < p.columns; block += lanes()) {
        uvec4 words = dropout_words(p.dropout, drop, block);
        uint last = min(block * 8u + 8u, p.columns);
        for (uint column = block * 8u; column < last; ++column) {
            float grad = grad_y[p.offset[2] + row_start + column];
            store(row_start + column, column, dropout_apply(p.dropout, words, column, grad));
        }
    }
}
