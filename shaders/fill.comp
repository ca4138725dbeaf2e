// out = a word of the type's width; each invocation has four elements of a row.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "params.h"
layout(push_constant) uniform Push { FillParams p; };
#include "fours.glsl"
#include "grid.glsl"
#include "storage.glsl"
#include "strided.glsl"
HEADSCOPE_WRITE_WORDS(0, to)

void main() {
    if (element_index() < p.fours) {
        uvec4 at = coordinates(element_index());
        to_put(p.offset[0] + place(at, p.out_strides), p.shape[3] - at.w, uvec4(p.bits));
    }
}
