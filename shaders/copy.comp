// out = x or out += x, of 32-bit floats; moved as bits if not accumulated, so that NaN payloads stay. Each invocation
// has four elements of a row.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "params.h"
HEADSCOPE_KERNEL(CopyParams, COPY_BINDINGS, COPY_CONSTANTS)
#include "fours.glsl"
#include "grid.glsl"
#include "strided.glsl"
layout(constant_id = constant_accumulates) const bool kAccumulates = false;
HEADSCOPE_READ_WORDS(binding_x, x)
HEADSCOPE_WRITE_WORDS(binding_out, to)

void main() {
    if (element_index() >= p.fours) {
        return;
    }
    uvec4 at = coordinates(element_index());
    uint count = p.shape[3] - at.w;
    uvec4 bits = x_at(p.offset[binding_x] + place(at, p.x_strides), count);
    uint target = p.offset[binding_out] + place(at, p.out_strides);
    if (kAccumulates) {
        bits = floatBitsToUint(uintBitsToFloat(to_at(target, count)) + uintBitsToFloat(bits));
    }
    to_put(target, count, bits);
}
