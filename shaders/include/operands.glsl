// The operands a and b of a product, in the type of storage.glsl: one element, or the four from element 4 * at.
// Software devices read storage buffers lane by lane, but texels for all lanes at once: HEADSCOPE_TEXELS uses those.
#ifndef HEADSCOPE_OPERANDS_GLSL
#define HEADSCOPE_OPERANDS_GLSL

#include "storage.glsl"

#ifdef HEADSCOPE_TEXELS
layout(set = 0, binding = binding_a) uniform usamplerBuffer a_texels;
layout(set = 0, binding = binding_b) uniform usamplerBuffer b_texels;

vec4 a_four(uint at) { return uintBitsToFloat(texelFetch(a_texels, int(at))); }
vec4 b_four(uint at) { return uintBitsToFloat(texelFetch(b_texels, int(at))); }
float a_one(uint at) { return a_four(at / 4u)[at % 4u]; }
float b_one(uint at) { return b_four(at / 4u)[at % 4u]; }
#else
layout(set = 0, binding = binding_a) readonly buffer A { Stored a[]; };
layout(set = 0, binding = binding_a) readonly buffer AVectors { StoredFour a_vectors[]; };
layout(set = 0, binding = binding_b) readonly buffer B { Stored b[]; };
layout(set = 0, binding = binding_b) readonly buffer BVectors { StoredFour b_vectors[]; };

vec4 a_four(uint at) { return widen_four(a_vectors[at]); }
vec4 b_four(uint at) { return widen_four(b_vectors[at]); }
float a_one(uint at) { return widen_one(a[at]); }
float b_one(uint at) { return widen_one(b[at]); }
#endif

#endif
