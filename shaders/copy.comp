// out = x or out += x, of 32-bit floats; moved as bits where nothing is added, so that integers go through as well.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "params.h"
layout(push_constant) uniform Push { CopyParams p; };
#include "grid.glsl"
#include "strided.glsl"
layout(set = 0, binding = 0) readonly buffer X { uint x[]; };
layout(set = 0, binding = 1) buffer Out { uint to[]; };

void main() {
    uint index = element_index();
    if (index < p.count) {
        uvec4 at = coordinates(index);
        uint bits = x[p.offset[0] + place(at, p.x_strides)];
        uint target = p.offset[1] + place(at, p.out_strides);
        to[target] = p.accumulate != 0u ? floatBitsToUint(uintBitsToFloat(to[target]) + uintBitsToFloat(bits)) : bits;
    }
}
