// y = x where the rule keeps it, scaled, else 0; one workgroup for each row, eight columns for each invocation.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "params.h"
layout(push_constant) uniform Push { DropoutKernelParams p; };
#include "dropout.glsl"
#include "fours.glsl"
#include "grid.glsl"
#include "storage.glsl"
layout(constant_id = 3) const bool kAccumulates = false;  // software devices execute both sides of a branch
HEADSCOPE_READ_FOURS(0, x)
layout(set = 0, binding = 1) readonly buffer Step { uint steps[]; };
layout(set = 0, binding = 2) readonly buffer Ordinals { uint ordinals[]; };
HEADSCOPE_WRITE_FOURS(3, y)

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
    for (uint first = 8u * lane(); first < p.columns; first += 8u * lanes()) {
        uvec4 words = dropout_words(p.dropout, row, first / 8u);
        [[unroll]] for (uint half_of_eight = 0u; half_of_eight < 2u; ++half_of_eight) {
            uint column = first + 4u * half_of_eight;
            if (column < p.columns) {
                uint count = p.columns - column;
                vec4 value = dropout_apply(p.dropout, words, column, x_at(source + column, count));
                if (kAccumulates) {
                    value += y_at(target + column, count);
                }
                y_put(target + column, count, value);
            }
        }
    }
}
