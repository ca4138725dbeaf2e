// grad_x = f'(x + bias) * Dropout(grad_y); one workgroup for each row.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "params.h"
layout(push_constant) uniform Push { BiasActivationBackwardParams p; };
#include "activation.glsl"
#include "dropout.glsl"
#include "fours.glsl"
#include "grid.glsl"
#include "storage.glsl"
// Constants, since software devices execute both sides of a branch.
layout(constant_id = 3) const uint kActivation = 0u;
layout(constant_id = 4) const bool kDrops = false;
layout(constant_id = 5) const bool kHasBias = true;
layout(constant_id = 6) const bool kAccumulates = false;
HEADSCOPE_READ_FOURS(0, x)
HEADSCOPE_READ_FLOATS(1, bias)
HEADSCOPE_READ_FOURS(2, grad_y)
layout(set = 0, binding = 3) readonly buffer Step { uint steps[]; };
layout(set = 0, binding = 4) readonly buffer Ordinals { uint ordinals[]; };
HEADSCOPE_WRITE_FOURS(5, grad_x)

void store(uint index, uint column, vec4 grad) {
    uint count = p.columns - column;
    vec4 value = x_at(p.offset[0] + index, count);
    if (kHasBias) {
        value += bias_at(p.offset[1] + column, count);
    }
    vec4 result = activate_backward(kActivation, value) * grad;
    if (kAccumulates) {
        result += grad_x_at(p.offset[5] + index, count);
    }
    grad_x_put(p.offset[5] + index, count, result);
}

void main() {
    uint row_start = group_index() * p.columns;
    if (!kDrops) {
        for (uint column = 4u * lane(); column < p.columns; column += 4u * lanes()) {
            store(row_start + column, column, grad_y_at(p.offset[2] + row_start + column, p.columns - column));
        }
        return;
    }
    uint row = p.first_row + group_index();
    uint batch = row / p.sequence;
    DropoutRow drop = DropoutRow(row - batch * p.sequence, ordinals[p.offset[4] + batch], steps[p.offset[3]]);
    for (uint first = 8u * lane(); first < p.columns; first += 8u * lanes()) {
        uvec4 words = dropout_words(p.dropout, drop, first / 8u);
        [[unroll]] for (uint half_of_eight = 0u; half_of_eight < 2u; ++half_of_eight) {
            uint column = first + 4u * half_of_eight;
            if (column < p.columns) {
                vec4 grad = grad_y_at(p.offset[2] + row_start + column, p.columns - column);
                store(row_start + column, column, dropout_apply(p.dropout, words, column, grad));
            }
        }
    }
}
