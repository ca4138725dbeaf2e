// out = x or out += x, of 32-bit floats; moved as bits if not accumulated, so that NaN payloads stay. Each invocation
// has four elements of a row.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "params.h"
layout(push_constant) uniform Push { CopyParams p; };
#include "fours.glsl"
#include "grid.glsl"
#include "strided.glsl"
layout(constant_id = 4) const bool kAccumulates = false;
HEADSCOPE_READ_WORDS(0, x)
HEADSCOPE_WRITE_WORDS(1, to)

void main() {
    if (element_index() >= p.fours) {
        return;
    }
    uvec4 at = coordinates(element_index());
    uint count = p.shape[3] - at.w;
    uvec4 bits = x_at(p.offset[0] + place(at, p.x_strides), count);
    uint target = p.offset[1] + place(at, p.out_strides);
    if (kAccumulates) {
        bits = floatBitsToUint(uintBitsToFloat(to_at(target, count)) + uintBitsToFloat(bits));
    }
    to_put(target, count, bits);
}
