// y = x where the rule keeps it, scaled, else 0; one workgroup a row, eight columns an invocation.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "params.h"
layout(push_constant) uniform Push { DropoutKernelParams p; };
#include "dropout.glsl"
#include "grid.glsl"
layout(set = 0, binding = 0) readonly buffer X { float x[]; };
layout(set = 0, binding = 1) readonly buffer Step { uint steps[]; };
layout(set = 0, binding = 2) readonly buffer Ordinals { uint ordinals[]; };
layout(set = 0, binding = 3) buffer Y { float y[]; };

void main() {
    uint plane = group_index() / p.positions;
    uint position = group_index() - plane * p.positions;
    uint batch = plane / p.heads;
    uint head = plane - batch * p.heads;
    uint source = p.offset[0] + batch * p.x_strides[0] + head * p.x_strides[1] + position * p.x_strides[2];
    uint target = p.offset[3] + batch * p.y_strides[0] + head * p.y_strides[1] + position * p.y_strides[2];
    DropoutRow row;
    row.place = ((p.first_head + head) << 16u) | (p.first_position + position);
    row.ordinal = ordinals[p.offset[2] + p.first_batch + batch];
    row.step = steps[p.offset[1]];
    for (uint block = lane(); block * 8u < p.columns; block += lanes()) {
        uvec4 words = dropout_words(p.dropout, row, block);
        uint last = min(block * 8u + 8u, p.columns);
        for (uint column = block * 8u; column < last; ++column) {
            float value = dropout_apply(p.dropout, words, column, x[source + column]);
            y[target + column] = p.accumulate != 0u ? y[target + column] + value : value;
        }
    }
}
