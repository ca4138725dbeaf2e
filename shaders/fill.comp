// out = a 32-bit word.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "params.h"
layout(push_constant) uniform Push { FillParams p; };
#include "grid.glsl"
#include "strided.glsl"
layout(set = 0, binding = 0) writeonly buffer Out { uint to[]; };

void main() {
    uint index = element_index();
    if (index < p.count) {
        to[p.offset[0] + place(coordinates(index), p.out_strides)] = p.bits;
    }
}
