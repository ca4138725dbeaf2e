// out = a word of the type's width; each invocation has four elements of a row.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "params.h"
HEADSCOPE_KERNEL(FillParams, FILL_BINDINGS, FILL_CONSTANTS)
#include "fours.glsl"
#include "grid.glsl"
#include "storage.glsl"
#include "strided.glsl"
HEADSCOPE_WRITE_WORDS(binding_out, to)

void main() {
    if (element_index() < p.fours) {
        uvec4 at = coordinates(element_index());
        to_put(p.offset[binding_out] + place(at, p.out_strides), p.shape[3] - at.w, uvec4(p.bits));
    }
}
