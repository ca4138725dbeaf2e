// y = Dropout(f(x + bias)); one workgroup a row.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "params.h"
layout(push_constant) uniform Push { BiasActivationParams p; };
#include "activation.glsl"
#include "dropout.glsl"
#include "grid.glsl"
layout(set = 0, binding = 0) readonly buffer X { float x[]; };
layout(set = 0, binding = 1) readonly buffer Bias { float bias[]; };
layout(set = 0, binding = 2) readonly buffer Step { uint steps[]; };
layout(set = 0, binding = 3) readonly buffer Ordinals { uint ordinals[]; };
layout(set = 0, binding = 4) writeonly buffer Y { float y[]; };

float biased(uint row_start, uint column) {
    float value = x[p.offset[0] + row_start + column];
    return p.has_bias != 0u ? value + bias[p.offset[1] + column] : value;
}

void main() {
    uint row_start = group_index() * p.columns;
    if (p.dropout.threshold == 0u) {
        for (uint column = lane(); column < p.columns; column += lanes()) {
            y[p.offset[4] + row_start + column] = activate(p.activation, biased(row_start, column));
        }
        return;
    }
    uint row = p.first_row + group_index();
    uint batch = row / p.sequence;
    DropoutRow drop = DropoutRow(row - batch * p.sequence, ordinals[p.offset[3] + batch], steps[p.offset[2]]);
    for (uint block = lane(); block * 8u < p.columns; block += lanes()) {
        uvec4 words = dropout_words(p.dropout, drop, block);
        uint last = min(block * 8u + 8u, p.columns);
        for (uint column = block * 8u; column < last; ++column) {
            float value = activate(p.activation, biased(row_start, column));
            y[p.offset[4] + row_start + column] = dropout_apply(p.dropout, words, column, value);
        }
    }
}
