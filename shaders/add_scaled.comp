// out = alpha a + beta b
#version 460
#extension GL_GOOGLE_include_directive : require
#include "params.h"
layout(push_constant) uniform Push { AddScaledParams p; };
#include "grid.glsl"
#include "strided.glsl"
layout(set = 0, binding = 0) readonly buffer A { float a[]; };
layout(set = 0, binding = 1) readonly buffer B { float b[]; };
layout(set = 0, binding = 2) writeonly buffer Out { float to[]; };

void main() {
    uint index = element_index();
    if (index < p.count) {
        uvec4 at = coordinates(index);
        float value = p.alpha * a[p.offset[0] + place(at, p.a_strides)];
        if (p.has_b != 0u) {
            value += p.beta * b[p.offset[1] + place(at, p.b_strides)];
        }
        to[p.offset[2] + place(at, p.out_strides)] = value;
    }
}
