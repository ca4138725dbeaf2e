// grad_x = f'(x + bias) * Dropout(grad_y); one workgroup for each row.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "params.h"
HEADSCOPE_KERNEL(BiasActivationBackwardParams, BIAS_ACTIVATION_BACKWARD_BINDINGS, BIAS_ACTIVATION_BACKWARD_CONSTANTS)
#include "activation.glsl"
#include "dropout.glsl"
#include "fours.glsl"
#include "grid.glsl"
#include "storage.glsl"
// Constants, since software devices execute both sides of a branch.
layout(constant_id = constant_activation) const uint kActivation = 0u;
layout(constant_id = constant_drops) const bool kDrops = false;
layout(constant_id = constant_has_bias) const bool kHasBias = true;
layout(constant_id = constant_accumulates) const bool kAccumulates = false;
HEADSCOPE_READ_FOURS(binding_x, x)
HEADSCOPE_READ_FLOATS(binding_bias, bias)
HEADSCOPE_READ_FOURS(binding_grad_y, grad_y)
layout(set = 0, binding = binding_step) readonly buffer Step { uint steps[]; };
layout(set = 0, binding = binding_ordinals) readonly buffer Ordinals { uint ordinals[]; };
HEADSCOPE_WRITE_FOURS(binding_grad_x, grad_x)

void store(uint index, uint column, vec4 grad) {
    uint count = p.columns - column;
    vec4 value = x_at(p.offset[binding_x] + index, count);
    if (kHasBias) {
        value += bias_at(p.offset[binding_bias] + column, count);
    }
    vec4 result = activate_backward(kActivation, value) * grad;
    if (kAccumulates) {
        result += grad_x_at(p.offset[binding_grad_x] + index, count);
    }
    grad_x_put(p.offset[binding_grad_x] + index, count, result);
}

void main() {
    uint row_start = group_index() * p.columns;
    if (!kDrops) {
        for (uint column = 4u * lane(); column < p.columns; column += 4u * lanes()) {
            store(row_start + column, column,
                  grad_y_at(p.offset[binding_grad_y] + row_start + column, p.columns - column));
        }
        return;
    }
    uint row = p.first_row + group_index();
    uint batch = row / p.sequence;
    DropoutRow drop = DropoutRow(row - batch * p.sequence, ordinals[p.offset[binding_ordinals] + batch],
                                 steps[p.offset[binding_step]]);
    for (uint first = 8u * lane(); first < p.columns; first += 8u * lanes()) {
        uvec4 words = dropout_words(p.dropout, drop, first / 8u);
        [[unroll]] for (uint half_of_eight = 0u; half_of_eight < 2u; ++half_of_eight) {
            uint column = first + 4u * half_of_eight;
            if (column < p.columns) {
                vec4 grad = grad_y_at(p.offset[binding_grad_y] + row_start + column, p.columns - column);
                store(row_start + column, column, dropout_apply(p.dropout, words, column, grad));
            }
        }
    }
}
