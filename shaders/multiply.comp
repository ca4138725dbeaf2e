// out = a b or out += a b; each invocation has four elements of a row.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "params.h"
HEADSCOPE_KERNEL(MultiplyParams, MULTIPLY_BINDINGS, MULTIPLY_CONSTANTS)
#include "fours.glsl"
#include "grid.glsl"
#include "storage.glsl"
#include "strided.glsl"
layout(constant_id = constant_accumulates) const bool kAccumulates = false;
HEADSCOPE_READ_FOURS(binding_a, a)
HEADSCOPE_READ_FOURS(binding_b, b)
HEADSCOPE_WRITE_FOURS(binding_out, to)

void main() {
    if (element_index() >= p.fours) {
        return;
    }
    uvec4 at = coordinates(element_index());
    uint count = p.shape[3] - at.w;
    uint target = p.offset[binding_out] + place(at, p.out_strides);
    vec4 value = a_at(p.offset[binding_a] + place(at, p.a_strides), count) *
                 b_at(p.offset[binding_b] + place(at, p.b_strides), count);
    if (kAccumulates) {
        value += to_at(target, count);
    }
    to_put(target, count, value);
}
