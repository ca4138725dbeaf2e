// out[part] = the sum of x^2 over a part; one workgroup for each part.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "params.h"
layout(push_constant) uniform Push { SquareSumParams p; };
#include "fours.glsl"
#include "grid.glsl"
#include "reduce.glsl"
HEADSCOPE_READ_FLOATS(0, x)
layout(set = 0, binding = 1) writeonly buffer Out { float to[]; };

void main() {
    uint first = group_index() * p.part_elements;
    uint last = min(first + p.part_elements, p.count);
    float sum = 0.0;
    for (uint index = first + 4u * lane(); index < last; index += 4u * lanes()) {
        vec4 value = x_at(p.offset[0] + index, last - index);
        sum += sum_of_four(value * value);
    }
    sum = group_sum(sum);
    if (lane() == 0u) {
        to[p.offset[1] + group_index()] = sum;
    }
}
