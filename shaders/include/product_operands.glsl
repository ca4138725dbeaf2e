// The operands of a product and its output: one element, or four neighbours, which are counted by fours.
// To be included after the push constants `p`; p.wide_out says that the output of operands in 16 bits is F32.
#include "storage.glsl"

layout(set = 0, binding = 0) readonly buffer A { Stored a[]; };
layout(set = 0, binding = 0) readonly buffer AVectors { StoredFour a_vectors[]; };
layout(set = 0, binding = 1) readonly buffer B { Stored b[]; };
layout(set = 0, binding = 1) readonly buffer BVectors { StoredFour b_vectors[]; };
layout(set = 0, binding = 2) buffer Out { float to[]; };
layout(set = 0, binding = 2) buffer OutVectors { vec4 to_vectors[]; };

float a_one(uint at) { return widen_one(a[at]); }
vec4 a_four(uint four) { return widen_four(a_vectors[four]); }
float b_one(uint at) { return widen_one(b[at]); }
vec4 b_four(uint four) { return widen_four(b_vectors[four]); }

#ifdef HEADSCOPE_16_BITS

layout(set = 0, binding = 2) buffer NarrowOut { Stored narrow_to[]; };
layout(set = 0, binding = 2) buffer NarrowOutVectors { StoredFour narrow_to_vectors[]; };

float out_one(uint at) { return p.wide_out != 0u ? to[at] : widen_one(narrow_to[at]); }
vec4 out_four(uint four) { return p.wide_out != 0u ? to_vectors[four] : widen_four(narrow_to_vectors[four]); }

void out_put(uint at, float value) {
    if (p.wide_out != 0u) {
        to[at] = value;
    } else {
        narrow_to[at] = narrow_one(value);
    }
}

void out_put_four(uint four, vec4 value) {
    if (p.wide_out != 0u) {
        to_vectors[four] = value;
    } else {
        narrow_to_vectors[four] = narrow_four(value);
    }
}

#else

float out_one(uint at) { return to[at]; }
vec4 out_four(uint four) { return to_vectors[four]; }
void out_put(uint at, float value) { to[at] = value; }
void out_put_four(uint four, vec4 value) { to_vectors[four] = value; }

#endif
