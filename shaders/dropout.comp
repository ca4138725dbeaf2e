// y = x where the rule keeps it, scaled, else 0; one workgroup for each row, eight columns for each invocation.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "params.h"
HEADSCOPE_KERNEL(DropoutKernelParams, DROPOUT_BINDINGS, DROPOUT_CONSTANTS)
#include "dropout.glsl"
#include "fours.glsl"
#include "grid.glsl"
#include "storage.glsl"
// A constant: software devices execute both sides of a branch.
layout(constant_id = constant_accumulates) const bool kAccumulates = false;
HEADSCOPE_READ_FOURS(binding_x, x)
layout(set = 0, binding = binding_step) readonly buffer Step { uint steps[]; };
layout(set = 0, binding = binding_ordinals) readonly buffer Ordinals { uint ordinals[]; };
HEADSCOPE_WRITE_FOURS(binding_y, y)

void main() {
    uint plane = group_index() / p.positions;
    uint position = group_index() - plane * p.positions;
    uint batch = plane / p.heads;
    uint head = plane - batch * p.heads;
    uint source = p.offset[binding_x] + batch * p.x_strides[0] + head * p.x_strides[1] + position * p.x_strides[2];
    uint target = p.offset[binding_y] + batch * p.y_strides[0] + head * p.y_strides[1] + position * p.y_strides[2];
    DropoutRow row;
    row.place = ((p.first_head + head) << 16u) | (p.first_position + position);
    row.ordinal = ordinals[p.offset[binding_ordinals] + p.first_batch + batch];
    row.step = steps[p.offset[binding_step]];
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
