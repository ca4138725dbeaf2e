// out = alpha a + beta b; each invocation has four elements of a row.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "params.h"
layout(push_constant) uniform Push { AddScaledParams p; };
#include "fours.glsl"
#include "grid.glsl"
#include "storage.glsl"
#include "strided.glsl"
layout(constant_id = 4) const bool kHasB = true;
HEADSCOPE_READ_FOURS(0, a)
HEADSCOPE_READ_FOURS(1, b)
HEADSCOPE_WRITE_FOURS(2, to)

void main() {
    if (element_index() >= p.fours) {
        return;
    }
    uvec4 at = coordinates(element_index());
    uint count = p.shape[3] - at.w;
    vec4 value = p.alpha * a_at(p.offset[0] + place(at, p.a_strides), count);
    if (kHasB) {
        value += p.beta * b_at(p.offset[1] + place(at, p.b_strides), count);
    }
    to_put(p.offset[2] + place(at, p.out_strides), count, value);
}
