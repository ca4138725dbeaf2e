// y = Dropout(f(x + bias)); one workgroup for each row.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "params.h"
HEADSCOPE_KERNEL(BiasActivationParams, BIAS_ACTIVATION_BINDINGS, BIAS_ACTIVATION_CONSTANTS)
#include "activation.glsl"
#include "dropout.glsl"
#include "fours.glsl"
#include "grid.glsl"
#include "storage.glsl"
// Constants, since software devices execute both sides of a branch.
layout(constant_id = constant_activation) const uint kActivation = 0u;
layout(constant_id = constant_drops) const bool kDrops = false;
layout(constant_id = constant_has_bias) const bool kHasBias = true;
HEADSCOPE_READ_FOURS(binding_x, x)
HEADSCOPE_READ_FLOATS(binding_bias, bias)
layout(set = 0, binding = binding_step) readonly buffer Step { uint steps[]; };
layout(set = 0, binding = binding_ordinals) readonly buffer Ordinals { uint ordinals[]; };
HEADSCOPE_WRITE_FOURS(binding_y, y)

vec4 activated(uint row_start, uint column) {
    uint count = p.columns - column;
    vec4 value = x_at(p.offset[binding_x] + row_start + column, count);
    if (kHasBias) {
        value += bias_at(p.offset[binding_bias] + column, count);
    }
    return activate(kActivation, value);
}

void main() {
    uint row_start = group_index() * p.columns;
    if (!kDrops) {
        for (uint column = 4u * lane(); column < p.columns; column += 4u * lanes()) {
            y_put(p.offset[binding_y] + row_start + column, p.columns - column, activated(row_start, column));
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
                vec4 value = dropout_apply(p.dropout, words, column, activated(row_start, column));
                y_put(p.offset[binding_y] + row_start + column, p.columns - column, value);
            }
        }
    }
}
