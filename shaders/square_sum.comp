// out[part] = the sum of x^2 over a part; one workgroup for each part.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "params.h"
HEADSCOPE_KERNEL(SquareSumParams, SQUARE_SUM_BINDINGS, FOURS_CONSTANTS)
#include "fours.glsl"
#include "grid.glsl"
#include "reduce.glsl"
HEADSCOPE_READ_FLOATS(binding_x, x)
layout(set = 0, binding = binding_out) writeonly buffer Out { float to[]; };

void main() {
    uint first = group_index() * p.part_elements;
    uint last = min(first + p.part_elements, p.count);
    float sum = 0.0;
    for (uint index = first + 4u * lane(); index < last; index += 4u * lanes()) {
        vec4 value = x_at(p.offset[binding_x] + index, last - index);
        sum += sum_of_four(value * value);
    }
    sum = group_sum(sum);
    if (lane() == 0u) {
        to[p.offset[binding_out] + group_index()] = sum;
    }
}
